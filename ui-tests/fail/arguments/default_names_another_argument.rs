use contract_runtime::prelude::*;

/// Wait.
#[tool]
fn wait(least: u32, #[arg(default = least)] most: u32) {
    let _ = (least, most);
}

fn main() {}
