use contract_runtime::prelude::*;

/// Wait.
#[tool(policy = "observe")]
async fn wait() {}

fn main() {}
