use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Basket(Vec<u32>);

/// Weigh it.
#[tool]
#[post(|weight| *weight as usize >= basket.0.len())]
fn weigh(basket: Basket) -> u32 {
    basket.0.iter().sum()
}

fn main() {}
