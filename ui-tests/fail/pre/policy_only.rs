use contract_runtime::prelude::*;

#[pre(policy = observe)]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
