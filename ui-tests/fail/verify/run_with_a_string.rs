use contract_runtime::prelude::*;

/// Double a number.
#[tool]
#[verify(run = "always")]
fn double(number: i32) -> i64 {
    i64::from(number) * 2
}

fn main() {}
