use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Reagent<'a, T> {
    name: &'a str,
    grams: T,
}

/// Mix them.
#[tool]
fn mix<'a>(all: Vec<Reagent<'a, f64>>, one: &Reagent<'_, u32>) -> usize {
    all.len() + one.name.len()
}

fn main() {}
