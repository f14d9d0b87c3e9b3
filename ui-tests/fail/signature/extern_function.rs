use contract_runtime::prelude::*;

/// Double it.
#[tool]
extern "C" fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
