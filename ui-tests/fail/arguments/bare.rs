use contract_runtime::prelude::*;

/// Wait.
#[tool]
fn wait(#[arg] seconds: u32) {
    let _ = seconds;
}

fn main() {}
