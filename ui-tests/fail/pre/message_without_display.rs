use contract_runtime::prelude::*;

struct Even(u32);

#[pre(number.0 % 2 == 0, "{number} is odd")]
fn half(number: Even) -> u32 {
    number.0 / 2
}

fn main() {}
