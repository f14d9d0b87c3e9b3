use contract_runtime::prelude::*;

/// Name it.
#[tool]
#[post(|_| { number += 1; true })]
fn name(number: u32) -> String {
    number.to_string()
}

fn main() {}
