use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre((1..=5).contains(&number))]
#[pre((6..10).contains(&number))]
fn run(number: i64) {}

fn main() {}
