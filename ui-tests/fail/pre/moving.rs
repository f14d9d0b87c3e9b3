use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[pre({ drop(text); true })]
fn measure(text: String) -> usize {
    text.len()
}

fn main() {}
