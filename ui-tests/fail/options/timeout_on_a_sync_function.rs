use contract_runtime::prelude::*;

/// Wait.
#[tool(timeout = "30s")]
fn wait() {}

fn main() {}
