use contract_runtime::prelude::*;

#[pre(number < 10)]
extern "C" fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
