use contract_runtime::prelude::*;

struct Reagent;

struct Lab;

#[tool]
impl Lab {
    /// Mix it.
    #[tool]
    fn mix(&self, left: Reagent, grams: f64) -> f64 {
        let _ = left;
        grams
    }
}

fn main() {}
