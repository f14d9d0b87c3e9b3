use contract_runtime::prelude::*;

const MAX: usize = 3;

/// Double it.
#[tool]
#[pre(number < MAX)]
fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
