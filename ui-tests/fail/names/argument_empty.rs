use contract_runtime::prelude::*;

/// Measure it.
#[tool]
fn measure(#[arg(name = "")] size: u32) -> u32 {
    size
}

fn main() {}
