use contract_runtime::prelude::*;

struct Store;

impl Store {
    /// Open a store.
    #[tool]
    fn open(path: String) -> Self {
        let _ = path;
        Self
    }
}

fn main() {}
