use contract_runtime::prelude::*;

struct Store;

#[tool]
impl Store {
    /// Read a byte.
    #[tool]
    fn read() -> u8 {
        1
    }
}

fn main() {}
