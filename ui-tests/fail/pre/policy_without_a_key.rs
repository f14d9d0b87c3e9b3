use contract_runtime::prelude::*;

#[pre(seconds > 0, observe)]
fn wait(seconds: u32) {
    let _ = seconds;
}

fn main() {}
