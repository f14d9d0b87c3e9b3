use contract_runtime::prelude::*;

/// Wait.
#[tool]
fn wait(#[arg(default = 5)] name: String) {
    let _ = name;
}

fn main() {}
