use contract_runtime::prelude::*;

/// Double a number.
#[verify = run]
#[tool]
fn double(number: i32) -> i64 {
    i64::from(number) * 2
}

/// Triple a number.
#[tool]
#[verify = "run"]
fn triple(number: i32) -> i64 {
    i64::from(number) * 3
}

fn main() {}
