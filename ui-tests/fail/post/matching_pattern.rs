use contract_runtime::prelude::*;

/// Take the root.
#[tool]
#[post(|Some(root)| *root >= 0.0)]
fn root(square: f64) -> Option<f64> {
    Some(square.sqrt())
}

fn main() {}
