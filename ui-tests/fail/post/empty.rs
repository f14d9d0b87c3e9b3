use contract_runtime::prelude::*;

#[post()]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
