use contract_runtime::prelude::*;
use schemars::JsonSchema;

#[derive(JsonSchema)]
struct Reagent;

/// Mix it.
#[tool]
fn mix(left: Reagent, grams: f64) -> f64 {
    let _ = left;
    grams
}

fn main() {}
