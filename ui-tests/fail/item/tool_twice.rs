use contract_runtime::prelude::*;

/// Wait.
#[tool(read_only)]
#[tool(idempotent)]
fn wait() {}

fn main() {}
