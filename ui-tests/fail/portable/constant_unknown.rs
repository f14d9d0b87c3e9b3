use contract_runtime::prelude::*;

/// Double it.
#[tool]
#[pre(number < MAX && text != NAME)]
fn double(number: u32, text: String) -> u32 {
    number * 2
}

fn main() {}
