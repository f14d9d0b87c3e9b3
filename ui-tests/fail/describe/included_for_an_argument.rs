use contract_runtime::prelude::*;

/// Measure it.
#[tool]
fn area(#[doc = include_str!("width.md")] width: f64) -> f64 {
    width * width
}

fn main() {}
