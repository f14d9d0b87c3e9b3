use contract_runtime::prelude::*;
use std::sync::Arc;

struct Store(u8);

#[tool]
impl Store {
    /// Read a byte.
    #[tool]
    fn read(self: Arc<Self>) -> u8 {
        self.0
    }
}

fn main() {}
