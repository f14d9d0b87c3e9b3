use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(["metre", "foot"].contains(&unit.as_str()))]
#[pre(unit != "metre" && unit != "foot")]
fn unit(unit: String) {}

/// Do it.
#[tool]
#[pre(key.starts_with("tk-"))]
#[pre(key == "sk-1")]
fn key(key: &str) {}

fn main() {}
