use contract_runtime::prelude::*;

/// Double a number.
#[tool]
fn double(number: i32) -> i64 {
    i64::from(number) * 2
}

verify!(double);

fn main() {}
