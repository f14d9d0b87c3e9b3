use contract_runtime::prelude::*;

struct Store(u8);

#[tool]
#[pre(true)]
impl Store {
    /// Read a byte.
    #[tool]
    fn read(&self) -> u8 {
        self.0
    }
}

fn main() {}
