use contract_runtime::prelude::*;

/// Wait.
#[tool(read_only, destructive)]
async fn wait() {}

fn main() {}
