use contract_runtime::prelude::*;

#[given(number = text.parse::<u32>(), else "{text} is not a number")]
fn read(text: &str) -> u32 {
    number
}

fn main() {}
