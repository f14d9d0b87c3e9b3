use contract_runtime::prelude::*;

struct Basket(Vec<u32>);

#[post(|weight| *weight as usize >= basket.0.len())]
fn weigh(basket: Basket) -> u32 {
    basket.0.iter().sum()
}

fn main() {}
