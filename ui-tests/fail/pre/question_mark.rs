use contract_runtime::prelude::*;

#[pre(number.checked_sub(1)? > 0)]
fn half(number: u32) -> Option<u32> {
    Some(number / 2)
}

fn main() {}
