use contract_runtime::prelude::*;

#[pre(seconds > 0)]
fn wait(#[context] seconds: u32) {
    let _ = seconds;
}

fn main() {}
