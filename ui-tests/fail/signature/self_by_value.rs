use contract_runtime::prelude::*;

struct Store(u8);

#[tool]
impl Store {
    /// Close the store.
    #[tool]
    fn close(self) -> u8 {
        self.0
    }
}

fn main() {}
