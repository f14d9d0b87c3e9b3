use contract_runtime::prelude::*;

/// Wait.
#[tool(name)]
async fn wait() {}

fn main() {}
