use contract_runtime::prelude::*;

/// Wait.
#[tool(timeout = 30)]
async fn wait() {}

fn main() {}
