use contract_runtime::prelude::*;

/// Double a number.
#[tool]
fn double(number: i32) -> i64 {
    i64::from(number) * 2
}

contract_verify::verify!(double, case = 5);
contract_verify::verify_all!(sed = 5);

fn main() {}
