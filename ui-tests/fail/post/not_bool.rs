use contract_runtime::prelude::*;

/// Take the root.
#[tool]
#[post(|root| root.abs())]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
