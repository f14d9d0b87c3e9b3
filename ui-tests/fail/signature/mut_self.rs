use contract_runtime::prelude::*;

struct Store(u8);

#[tool]
impl Store {
    /// Write a byte.
    #[tool]
    fn write(&mut self, byte: u8) {
        self.0 = byte;
    }
}

fn main() {}
