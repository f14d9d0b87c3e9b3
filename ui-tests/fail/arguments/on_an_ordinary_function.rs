use contract_runtime::prelude::*;

#[pre(seconds > 0)]
fn wait(#[arg(secret)] seconds: u32) {
    let _ = seconds;
}

fn main() {}
