use contract_runtime::prelude::*;

#[pre("the number must be even")]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
