use contract_runtime::prelude::*;

/// Count.
#[tool]
fn count() -> Box<dyn Iterator<Item = u8>> {
    Box::new(0..10)
}

fn main() {}
