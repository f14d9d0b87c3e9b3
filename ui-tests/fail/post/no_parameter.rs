use contract_runtime::prelude::*;

#[post(|| square > 0.0)]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
