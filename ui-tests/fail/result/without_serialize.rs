use contract_runtime::prelude::*;

struct Reagent;

/// Make it.
#[tool]
fn make() -> Reagent {
    Reagent
}

fn main() {}
