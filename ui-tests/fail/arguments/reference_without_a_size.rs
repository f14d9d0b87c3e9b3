use contract_runtime::prelude::*;
use std::ffi::OsStr;

/// Count the letters of a word.
#[tool(read_only)]
fn letters(word: &OsStr) -> usize {
    word.len()
}

fn main() {}
