use contract_runtime::prelude::*;

struct Reagent;

/// Mix it.
#[tool]
fn mix(left: Option<Reagent>, grams: f64) -> f64 {
    let _ = left;
    grams
}

fn main() {}
