use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(fast)]
#[pre(slow || !fast)]
#[pre(!slow)]
fn run(fast: bool, slow: bool) {}

fn main() {}
