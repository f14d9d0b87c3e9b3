use contract_runtime::prelude::*;

/// Halve it.
#[tool]
#[post(|half| half.is_ok())]
fn half(number: u32) -> Result<u32, String> {
    Ok(number / 2)
}

#[post(|half| matches!(half, Ok(_)), "no half")]
fn half_of_a_text(number: &str) -> Result<u32, std::num::ParseIntError> {
    number.parse()
}

fn main() {}
