use contract_runtime::prelude::*;

/// Halve it.
#[tool]
#[pre(number.fits_the_room())]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
