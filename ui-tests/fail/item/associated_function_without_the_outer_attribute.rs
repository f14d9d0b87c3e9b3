use contract_runtime::prelude::*;

struct Store;

impl Store {
    /// Count the stores.
    #[tool]
    fn count() -> u32 {
        1
    }
}

fn main() {}
