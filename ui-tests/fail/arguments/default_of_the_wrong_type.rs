use contract_runtime::prelude::*;

/// Wait.
#[tool]
fn wait(#[arg(default = "five")] seconds: u32) {
    let _ = seconds;
}

fn main() {}
