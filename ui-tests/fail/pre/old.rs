use contract_runtime::prelude::*;

#[pre(old(number) % 2 == 0)]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
