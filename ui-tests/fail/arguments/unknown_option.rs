use contract_runtime::prelude::*;

/// Wait.
#[tool]
fn wait(#[arg(defualt = 5)] seconds: u32) {
    let _ = seconds;
}

fn main() {}
