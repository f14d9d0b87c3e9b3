use contract_runtime::prelude::*;

struct Reagent;

/// Make it.
#[tool]
fn make() -> Result<Reagent, String> {
    Ok(Reagent)
}

fn main() {}
