use contract_runtime::prelude::*;

/// Measure it.
#[tool]
fn measure(#[arg(name = "the-size")] size: u32) -> u32 {
    size
}

fn main() {}
