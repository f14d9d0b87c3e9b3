use contract_runtime::prelude::*;

#[pre(number < 10)]
const fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
