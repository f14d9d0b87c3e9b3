use contract_runtime::prelude::*;

/// Double it.
#[tool]
#[post(|result| *result > number, shown)]
fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
