use contract_runtime::prelude::*;

/// Wait.
#[tool]
fn wait(#[arg(default = 5, default = 6)] seconds: u32) {
    let _ = seconds;
}

fn main() {}
