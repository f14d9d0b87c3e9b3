use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(key.starts_with("tk-"))]
fn key(#[arg(example = "tk-1", example = "kt-1")] key: &str) {}

fn main() {}
