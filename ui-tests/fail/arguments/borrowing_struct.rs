use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Reagent<'a> {
    name: &'a str,
}

/// Mix it.
#[tool]
fn mix(left: Reagent<'_>) -> usize {
    left.name.len()
}

fn main() {}
