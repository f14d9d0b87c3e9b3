use contract_runtime::prelude::*;
use std::cell::Cell;

struct Lab(Cell<u32>);

#[tool]
impl Lab {
    /// Make it.
    #[tool]
    fn make(&self) -> u32 {
        self.0.get()
    }
}

fn main() {}
