use contract_runtime::prelude::*;

/// Wait.
#[tool(timeout = "0s")]
async fn wait() {}

fn main() {}
