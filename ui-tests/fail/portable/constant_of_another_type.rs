use contract_runtime::prelude::*;

const NAME: &str = "three";

/// Double it.
#[tool]
#[pre(number < NAME)]
fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
