use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Size {
    width: f64,
}

/// Cut it.
#[tool]
#[pre(size.width > 0.0 && count > 0, shown)]
fn cut(size: Size, count: u32) -> f64 {
    size.width / f64::from(count)
}

fn main() {}
