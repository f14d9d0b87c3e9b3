use contract_runtime::prelude::*;

/// Measure it.
#[tool]
fn measure(größe: u32) -> u32 {
    größe
}

fn main() {}
