use contract_runtime::prelude::*;

struct Explosion;

/// Make it.
#[tool]
fn make() -> Result<u32, Explosion> {
    Err(Explosion)
}

fn main() {}
