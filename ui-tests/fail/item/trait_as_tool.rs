use contract_runtime::prelude::*;

/// A shop.
#[tool]
trait Shop {
    fn open(&self);
}

fn main() {}
