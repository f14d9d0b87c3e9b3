use contract_runtime::prelude::*;

#[post(|result, square| result * result == square)]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
