use contract_runtime::prelude::*;

/// Run it.
#[tool]
#[pre(mode != Mode::Fast && mode.len() > 1)]
fn run(mode: Mode) -> u32 {
    1
}

fn main() {}
