use contract_runtime::prelude::*;

#[pre(return 5)]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
