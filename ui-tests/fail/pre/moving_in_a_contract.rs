use contract_runtime::prelude::*;

#[pre(text.into_bytes().is_ascii())]
fn measure(text: String) -> usize {
    text.len()
}

fn main() {}
