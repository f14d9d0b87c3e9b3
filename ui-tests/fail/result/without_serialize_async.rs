use contract_runtime::prelude::*;

struct Reagent;

/// Make it.
#[tool]
async fn make() -> Reagent {
    Reagent
}

fn main() {}
