use contract_runtime::prelude::*;

static READY: bool = true;

#[pre(READY)]
fn run(_: u32) {}

#[post(|_| READY)]
fn start(_: u32) {}

#[pre(cfg!(unix), "{number} needs unix")]
fn stop(number: u32) -> u32 {
    number
}

fn main() {}
