use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
enum Mode {
    Fast,
    Slow,
}

/// Run it.
#[tool]
#[pre(mode != Mode::Fast)]
fn run(mode: Mode) -> u32 {
    1
}

fn main() {}
