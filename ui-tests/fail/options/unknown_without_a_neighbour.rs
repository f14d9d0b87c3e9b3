use contract_runtime::prelude::*;

/// Wait.
#[tool(colour = "red")]
async fn wait() {}

fn main() {}
