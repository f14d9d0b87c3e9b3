use contract_runtime::prelude::*;

#[pre(number % 2 == 0, "{} and {} are odd", number)]
fn half(number: u32) -> u32 {
    number / 2
}

#[pre(number % 2 == 0, "{number} is odd", number + 1)]
fn quarter(number: u32) -> u32 {
    number / 4
}

fn main() {}
