use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
enum Mode {
    Fast,
    Slow,
}

impl Mode {
    fn speed(&self) -> u8 {
        1
    }

    fn check(&self) -> Result<bool, String> {
        Ok(true)
    }
}

/// Run it.
#[tool]
#[pre(mode.speed())]
#[pre(mode.check()?)]
fn run(#[arg(default = Mode::Fast)] mode: Mode) -> u32 {
    1
}

fn main() {}
