use contract_runtime::prelude::*;

/// Measure it.
#[tool]
fn measure(_width: u32, _width: u32) -> u32 {
    5
}

fn main() {}
