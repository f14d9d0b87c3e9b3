use contract_runtime::prelude::*;

/// Ignore it.
#[tool]
fn ignore(_: u8) {}

fn main() {}
