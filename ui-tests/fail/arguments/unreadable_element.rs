use contract_runtime::prelude::*;

struct Reagent;

/// Mix them.
#[tool]
fn mix(all: Vec<Reagent>, grams: f64) -> f64 {
    let _ = all;
    grams
}

fn main() {}
