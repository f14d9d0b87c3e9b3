use contract_runtime::prelude::*;

struct Store(u32);

impl Store {
    /// Read the store.
    #[tool]
    fn read(&self) -> u32 {
        self.0
    }
}

fn main() {}
