use contract_runtime::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reagent;

/// Mix them.
#[tool]
fn mix(all: &[Reagent], first: &Reagent) -> usize {
    let _ = first;
    all.len()
}

fn main() {}
