use contract_runtime::prelude::*;

/// Measure it.
#[tool]
fn measure(#[arg(name = "height")] width: u32, height: u32) -> u32 {
    width * height
}

fn main() {}
