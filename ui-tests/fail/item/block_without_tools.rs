use contract_runtime::prelude::*;

struct Store(u8);

#[tool]
impl Store {
    fn read(&self) -> u8 {
        self.0
    }
}

fn main() {
    Store(1).read();
}
