use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(number > 255)]
fn byte(number: u8) {}

/// Do it.
#[tool]
#[pre(number < i64::MIN)]
fn whole(number: i64) {}

fn main() {}
