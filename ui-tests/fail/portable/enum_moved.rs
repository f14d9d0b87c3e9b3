use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
enum Mode {
    Fast,
    Slow,
}

impl Mode {
    fn spent(self) -> bool {
        true
    }
}

/// Run it.
#[tool]
#[pre(mode.spent())]
fn run(#[arg(default = Mode::Fast)] mode: Mode) -> u32 {
    1
}

fn main() {}
