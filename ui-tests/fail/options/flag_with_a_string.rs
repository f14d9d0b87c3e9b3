use contract_runtime::prelude::*;

/// Wait.
#[tool(read_only = "yes")]
async fn wait() {}

fn main() {}
