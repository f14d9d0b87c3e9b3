use contract_runtime::prelude::*;

#[pre(number > 0, shown)]
fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
