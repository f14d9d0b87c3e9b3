use contract_runtime::prelude::*;

/// Halve it.
#[tool(crate = nowhere)]
#[pre(number % 2 == 0)]
#[post(|half| *half <= number)]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
