use contract_runtime::prelude::*;

struct Store(u8);

#[tool(read_only)]
impl Store {
    /// Read a byte.
    #[tool]
    fn read(&self) -> u8 {
        self.0
    }
}

fn main() {}
