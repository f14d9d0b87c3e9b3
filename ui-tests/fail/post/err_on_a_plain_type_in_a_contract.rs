use contract_runtime::prelude::*;

#[post(err |error| { let _ = error; true })]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
