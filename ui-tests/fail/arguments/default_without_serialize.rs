use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Length(u32);

/// Cut it.
#[tool]
fn cut(#[arg(default = Length(5))] length: Length) {
    let _ = length;
}

fn main() {}
