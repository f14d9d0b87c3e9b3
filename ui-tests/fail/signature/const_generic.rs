use contract_runtime::prelude::*;

/// Add them.
#[tool]
fn sum<const N: usize>(values: [u8; N]) -> u32 {
    values.iter().map(|&value| u32::from(value)).sum()
}

fn main() {}
