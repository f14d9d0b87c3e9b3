use contract_runtime::prelude::*;

#[pre(number % 2 == 0 "the number must be even")]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
