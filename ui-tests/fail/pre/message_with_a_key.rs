use contract_runtime::prelude::*;

#[pre(seconds > 0, message = "wait longer than that")]
fn wait(seconds: u32) {
    let _ = seconds;
}

fn main() {}
