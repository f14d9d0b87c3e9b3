use contract_runtime::prelude::*;

/// Read it.
#[tool]
fn read(&self) -> u32 {
    1
}

fn main() {}
