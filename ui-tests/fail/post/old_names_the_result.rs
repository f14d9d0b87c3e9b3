use contract_runtime::prelude::*;

#[post(|root| *root >= old(root))]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
