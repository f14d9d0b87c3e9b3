use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(size > 5 && size % 2 == 1)]
fn run(#[arg(default = 8)] size: u32) {}

/// Do it.
#[tool]
#[pre(name.len() > 3)]
fn name(#[arg(default = "ab")] name: String) {}

fn main() {}
