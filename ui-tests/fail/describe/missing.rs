use contract_runtime::prelude::*;

#[tool]
fn area(width: f64, height: f64) -> f64 {
    width * height
}

fn main() {}
