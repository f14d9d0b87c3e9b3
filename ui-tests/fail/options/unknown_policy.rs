use contract_runtime::prelude::*;

/// Wait.
#[tool(policy = enforced)]
async fn wait() {}

fn main() {}
