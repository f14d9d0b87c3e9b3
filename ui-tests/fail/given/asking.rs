use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[given(first = text.chars().next(), else "the text is empty", ask = "Measure {text}?")]
fn measure(text: String) -> char {
    first
}

fn main() {}
