use contract_runtime::prelude::*;

/// Count the letters of a word.
#[tool(read_only)]
fn letters(word: str) -> usize {
    word.len()
}

fn main() {}
