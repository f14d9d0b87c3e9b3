use contract_runtime::prelude::*;

#[post(0 < total && (total != 7 || price > 3))]
fn total(price: u32, count: u32) -> u32 {
    price * count
}

fn main() {}
