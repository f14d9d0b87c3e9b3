use contract_runtime::prelude::*;

/// Read it.
#[tool]
unsafe fn read(address: usize) -> u8 {
    let _ = address;
    0
}

fn main() {}
