use contract_runtime::prelude::*;

/// Count the letters of some words.
#[tool(read_only)]
fn letters(word: Box<&str>, nested: Option<Vec<&'static str>>, all: Box<[&str]>) -> usize {
    word.len() + nested.map_or(0, |words| words.len()) + all.len()
}

fn main() {}
