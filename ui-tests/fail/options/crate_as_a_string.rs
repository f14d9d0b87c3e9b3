use contract_runtime::prelude::*;

/// Wait.
#[tool(crate = "contract_runtime")]
async fn wait() {}

fn main() {}
