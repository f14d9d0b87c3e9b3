use contract_runtime::prelude::*;

#[post(|name| name.into_bytes().is_ascii())]
fn name(number: u32) -> String {
    number.to_string()
}

fn main() {}
