use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[pre(!text.is_empty(), "{text.len()} letters are too few")]
fn measure(text: String) -> usize {
    text.len()
}

fn main() {}
