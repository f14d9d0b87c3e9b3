use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[pre(length > 0, "there is nothing to measure")]
#[given(length = text.len())]
fn measure(text: String) -> usize {
    length
}

fn main() {}
