use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(a < b)]
#[pre(b < a)]
fn two(a: u64, b: u64) {}

/// Do it.
#[tool]
#[pre(a < b)]
#[pre(b <= c)]
#[pre(!(a < c))]
fn three(a: i64, b: i64, c: i64) {}

fn main() {}
