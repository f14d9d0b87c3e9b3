use contract_runtime::prelude::*;

/// Name it.
#[tool]
#[post(err |error| error.is_empty())]
fn name(of: &str) -> &str {
    of
}

fn main() {}
