use contract_runtime::prelude::*;

/// Show it.
#[tool]
fn show(value: impl ToString) -> String {
    value.to_string()
}

fn main() {}
