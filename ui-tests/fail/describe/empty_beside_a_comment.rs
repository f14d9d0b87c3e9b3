use contract_runtime::prelude::*;

/// Measure it.
#[tool(description = "")]
fn measure(text: String) -> usize {
    text.len()
}

fn main() {}
