use contract_runtime::prelude::*;

/// Count the letters of all words.
#[tool(read_only)]
fn letters(words: Vec<&str>) -> usize {
    words.iter().map(|word| word.len()).sum()
}

fn main() {}
