use contract_runtime::prelude::*;

/// Halve it.
#[tool]
#[pre(result > 0)]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
