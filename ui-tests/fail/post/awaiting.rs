use contract_runtime::prelude::*;

/// Name it.
#[tool]
#[post(|name| ready(name).await)]
async fn name(number: u32) -> String {
    number.to_string()
}

async fn ready(name: &str) -> bool {
    name.is_empty()
}

fn main() {}
