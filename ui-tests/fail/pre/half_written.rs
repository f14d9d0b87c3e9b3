use contract_runtime::prelude::*;

#[pre(number % 2 ==)]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
