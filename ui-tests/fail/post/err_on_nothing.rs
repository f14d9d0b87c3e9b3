use contract_runtime::prelude::*;

/// Wait.
#[tool]
#[post(err |error| { let _ = error; true })]
fn wait() {}

fn main() {}
