use contract_runtime::prelude::*;

/// Wait.
#[tool(readonly)]
async fn wait() {}

fn main() {}
