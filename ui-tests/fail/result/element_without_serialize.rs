use contract_runtime::prelude::*;

struct Reagent;

/// Make them.
#[tool]
fn make() -> Vec<Reagent> {
    vec![Reagent]
}

fn main() {}
