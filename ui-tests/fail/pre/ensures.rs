use contract_runtime::prelude::*;

/// Halve a number.
#[tool]
#[pre(number % 2 == 0, ensures = "the number is even")]
fn halve(number: i64) -> i64 {
    number / 2
}

fn main() {}
