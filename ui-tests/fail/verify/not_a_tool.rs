use contract_runtime::prelude::*;

#[verify(run)]
#[pre(number < 100)]
fn double(number: i32) -> i32 {
    number * 2
}

#[verify(run)]
struct Number(i32);

fn main() {}
