use contract_runtime::prelude::*;

#[pre(number % 2 == 0, requires = "the number is even")]
fn halve(number: i64) -> i64 {
    number / 2
}

fn main() {}
