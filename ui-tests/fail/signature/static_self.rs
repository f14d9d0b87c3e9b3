use contract_runtime::prelude::*;

struct Store(u8);

#[tool]
impl Store {
    /// Read a byte.
    #[tool]
    fn read(&'static self) -> u8 {
        self.0
    }
}

fn main() {}
