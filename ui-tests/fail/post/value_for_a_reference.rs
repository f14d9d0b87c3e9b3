use contract_runtime::prelude::*;

#[post(|total: u32| total > 0)]
fn total(price: u32, count: u32) -> u32 {
    price * count
}

fn main() {}
