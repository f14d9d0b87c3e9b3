use contract_runtime::prelude::*;

/// Count the letters of a word.
#[tool(read_only)]
fn letters(word: &'static str, other: Option<&'static str>) -> usize {
    word.len() + other.map_or(0, str::len)
}

fn main() {}
