use contract_runtime::prelude::*;

/// Halve it.
#[tool]
#[pre(number.is_power_of_tow())]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
