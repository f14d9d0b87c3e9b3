use contract_runtime::prelude::*;

/// Wait.
#[tool(name = 5)]
async fn wait() {}

fn main() {}
