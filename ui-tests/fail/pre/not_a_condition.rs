use contract_runtime::prelude::*;

fn found(number: u32) -> Result<u32, String> {
    Ok(number)
}

#[pre(number.checked_sub(1))]
fn optional(number: u32) {}

#[pre(found(number))]
fn valued(number: u32) {}

#[post(|result| Some(result))]
fn posted(number: u32) -> u32 {
    number
}

fn main() {}
