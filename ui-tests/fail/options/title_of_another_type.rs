use contract_runtime::prelude::*;

const TITLE: u32 = 5;

/// Wait.
#[tool(title = TITLE)]
async fn wait() {}

fn main() {}
