use contract_runtime::prelude::*;

/// Wait.
#[tool(read_only idempotent)]
async fn wait() {}

fn main() {}
