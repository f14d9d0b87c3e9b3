use contract_runtime::prelude::*;

#[post(|root| *root >= 0.0, "{result} is negative")]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
