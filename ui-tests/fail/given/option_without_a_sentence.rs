use contract_runtime::prelude::*;

#[given(first = text.chars().next(), else)]
fn read(text: &str) -> char {
    first
}

fn main() {}
