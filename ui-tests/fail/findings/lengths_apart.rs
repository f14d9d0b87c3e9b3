use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(name.len() <= 3)]
#[pre(name.chars().count() > 3)]
fn name(name: &str) {}

/// Do it.
#[tool]
#[pre(tags.is_empty())]
#[pre(tags.iter().any(|tag| tag.len() > 1))]
fn tags(tags: Vec<String>) {}

fn main() {}
