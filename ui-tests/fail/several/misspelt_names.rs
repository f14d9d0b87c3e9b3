use contract_runtime::prelude::*;

/// Halve it.
#[tool(readonly)]
#[pre(nmber % 2 == 0, "odd")]
#[pre(names.iter().all(|name| name.len() < 10))]
#[post(|half| *half <= old(count))]
fn half(number: u32, names: Vec<String>) -> u32 {
    number / 2
}

fn main() {}
