use contract_runtime::prelude::*;

/// Count the letters of two words.
#[tool(read_only)]
fn letters(word: &&str, other: Option<&&str>) -> usize {
    word.len() + other.map_or(0, |other| other.len())
}

fn main() {}
