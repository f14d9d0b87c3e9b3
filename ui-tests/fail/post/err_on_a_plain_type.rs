use contract_runtime::prelude::*;

/// Take the root.
#[tool]
#[post(err |error| error.is_empty())]
fn root(square: f64) -> f64 {
    square.sqrt()
}

fn main() {}
