use contract_runtime::prelude::*;

/// Wait.
#[tool(name = "wait a while")]
fn wait() {}

fn main() {}
