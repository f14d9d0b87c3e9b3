use contract_runtime::prelude::*;

/// Name it.
#[tool]
#[pre(title.unwrap().len() > 3)]
#[pre(names.sort() == ())]
async fn name(title: Option<String>, names: Vec<String>) -> usize {
    title.map_or(0, |title| title.len()) + names.len()
}

fn main() {}
