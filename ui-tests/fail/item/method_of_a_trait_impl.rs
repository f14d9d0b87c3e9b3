use contract_runtime::prelude::*;

struct Store(u8);

trait Read {
    fn read(&self) -> u8;
}

impl Read for Store {
    /// Read a byte.
    #[tool]
    fn read(&self) -> u8 {
        self.0
    }
}

fn main() {}
