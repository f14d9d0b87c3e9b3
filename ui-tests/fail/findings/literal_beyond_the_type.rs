use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(number > 256)]
fn byte(number: u8) {}

fn main() {}
