use contract_runtime::prelude::*;

/// Count.
#[tool]
fn count() -> impl Iterator<Item = u8> {
    0..10
}

fn main() {}
