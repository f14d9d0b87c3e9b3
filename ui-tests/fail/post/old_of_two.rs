use contract_runtime::prelude::*;

#[post(|root| *root >= old(square, 1.0))]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
