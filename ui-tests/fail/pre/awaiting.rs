use contract_runtime::prelude::*;

/// Measure it.
#[tool]
#[pre(ready(text).await)]
async fn measure(text: String) -> usize {
    text.len()
}

async fn ready(text: String) -> bool {
    text.is_empty()
}

fn main() {}
