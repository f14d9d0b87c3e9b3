use contract_runtime::prelude::*;

/// Double it.
#[tool]
#[pre(number > 0, shown = always)]
#[pre(number > 1, shown, shown)]
fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
