use contract_runtime::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Reagent {
    grams: f64,
}

/// Mix it.
#[tool]
#[pre(left.grams > 0.0)]
fn mix(#[arg(default = Reagent { grams: 1.0 })] left: Reagent) -> f64 {
    left.grams
}

fn main() {}
