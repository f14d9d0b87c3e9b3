use contract_runtime::prelude::*;

#[derive(PartialEq)]
enum Mode {
    Fast,
    Slow,
}

/// Run it.
#[tool]
#[pre(mode != Mode::Fast)]
fn run(mode: Mode) -> u32 {
    1
}

fn main() {}
