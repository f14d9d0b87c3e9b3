use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[post(|length| *length >= old(text.as_str()).len())]
fn measure(text: String) -> usize {
    text.len()
}

fn main() {}
