use contract_runtime::prelude::*;

/// Measure the distance from the origin.
#[tool]
fn distance((x, y): (f64, f64)) -> f64 {
    x.hypot(y)
}

fn main() {}
