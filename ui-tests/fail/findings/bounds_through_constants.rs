use contract_runtime::prelude::*;

const MOST: u32 = 5;

mod limits {
    pub static LEAST: u32 = 9;
}

/// Do it.
#[tool]
#[pre(number > limits::LEAST)]
#[pre(number < MOST)]
fn run(number: u32) {}

fn main() {}
