use contract_runtime::prelude::*;

/// Wait.
#[tool]
#[post(err |error| true)]
fn wait() {}

fn main() {}
