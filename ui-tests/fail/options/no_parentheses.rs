use contract_runtime::prelude::*;

/// Wait.
#[tool = "wait"]
async fn wait() {}

fn main() {}
