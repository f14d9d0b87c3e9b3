use contract_runtime::prelude::*;

/// Wait.
#[tool(name = "")]
fn wait() {}

fn main() {}
