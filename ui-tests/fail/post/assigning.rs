use contract_runtime::prelude::*;

#[post(|root| *root = 5.0)]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
