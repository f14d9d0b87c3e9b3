use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[pre(!text.is_empty(), policy = observe, "there is nothing to measure")]
fn measure(text: String) -> usize {
    text.len()
}

fn main() {}
