use contract_runtime::prelude::*;

#[post(result >= 0.0)]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
