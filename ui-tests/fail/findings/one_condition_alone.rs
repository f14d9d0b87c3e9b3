use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(number > 10 && number < 5)]
fn run(number: i64) {}

fn main() {}
