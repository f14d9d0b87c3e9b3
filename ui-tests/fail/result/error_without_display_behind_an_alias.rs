use contract_runtime::prelude::*;

struct Explosion;

type Made<T> = Result<T, Explosion>;

/// Make it.
#[tool]
fn make() -> Made<u32> {
    Err(Explosion)
}

fn main() {}
