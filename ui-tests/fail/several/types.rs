use contract_runtime::prelude::*;

struct Reagent;
struct Explosion;

/// Mix them.
#[tool]
#[pre(grams)]
fn mix(_left: Reagent, _right: &[Reagent], grams: f64) -> Result<Reagent, Explosion> {
    let _ = grams;
    Err(Explosion)
}

fn main() {}
