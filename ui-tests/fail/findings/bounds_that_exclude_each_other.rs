use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(number > 10, "too few")]
#[pre(number != 50)]
#[pre(number < 5, "too many")]
fn run(number: u32) {}

fn main() {}
