use contract_runtime::prelude::*;

/// Wait.
#[tool(timeout("30s"))]
async fn wait() {}

fn main() {}
