use contract_runtime::prelude::*;

struct Store;

trait Read {
    fn read(&self) -> u8;
}

#[tool]
impl Read for Store {
    /// Get the next byte.
    #[tool]
    fn read(&self) -> u8 {
        0
    }
}

fn main() {}
