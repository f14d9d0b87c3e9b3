use contract_runtime::prelude::*;

struct Reagent;

struct Lab;

#[tool]
impl Lab {
    /// Make it.
    #[tool]
    fn make(&self) -> Reagent {
        Reagent
    }
}

fn main() {}
