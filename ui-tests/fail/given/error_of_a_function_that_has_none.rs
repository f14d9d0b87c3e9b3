use contract_runtime::prelude::*;

#[given(number = text.parse::<u32>()?)]
fn read(text: &str) -> u32 {
    number
}

fn main() {}
