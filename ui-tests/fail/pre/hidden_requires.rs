use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[pre(!text.is_empty(), shown = never, requires = "a text")]
fn measure(text: String) -> usize {
    text.len()
}

fn main() {}
