use contract_runtime::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Reagent;

/// Make it.
#[tool(output_schema)]
fn make() -> Reagent {
    Reagent
}

fn main() {}
