use contract_runtime::prelude::*;

/// Make it.
#[tool]
fn make() -> u32 {
    "a string"
}

fn main() {}
