use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[pre(least > 0 and least < 9)]
fn measure(least: usize) -> usize {
    least
}

/// Measure it again.
#[tool]
#[pre(0 < least < 9)]
fn measure_again(least: usize) -> usize {
    least
}

/// Measure something else.
#[tool]
#[pre(not empty)]
#[pre(least in 1..9)]
fn measure_this(empty: bool, least: usize) -> usize {
    least
}

fn main() {}
