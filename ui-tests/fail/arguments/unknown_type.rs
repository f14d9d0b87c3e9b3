use contract_runtime::prelude::*;

/// Mix it.
#[tool]
fn mix(left: Reagant) -> f64 {
    1.0
}

fn main() {}
