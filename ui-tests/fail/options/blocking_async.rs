use contract_runtime::prelude::*;

/// Wait.
#[tool(blocking)]
async fn wait() {}

fn main() {}
