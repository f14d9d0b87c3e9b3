use contract_runtime::prelude::*;

#[given(one = Vec::<u32>::new(), then drop(one))]
#[given(two = Vec::<u32>::new(), then drop(two))]
fn both(number: u32) -> u32 {
    number
}

fn main() {}
