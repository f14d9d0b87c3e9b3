use contract_runtime::prelude::*;

/// Sort them.
#[tool]
fn sort(values: &mut Vec<u8>) {
    values.sort();
}

fn main() {}
