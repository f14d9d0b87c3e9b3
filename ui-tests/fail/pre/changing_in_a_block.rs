use contract_runtime::prelude::*;

/// Halve it.
#[tool]
#[pre({ number = 2; true })]
fn half(mut number: u32) -> u32 {
    number /= 2;
    number
}

fn main() {}
