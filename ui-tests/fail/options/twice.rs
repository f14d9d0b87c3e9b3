use contract_runtime::prelude::*;

/// Wait.
#[tool(timeout = "30s", timeout = "1m")]
async fn wait() {}

fn main() {}
