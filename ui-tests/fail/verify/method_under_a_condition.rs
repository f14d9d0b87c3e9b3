use contract_runtime::prelude::*;

struct Base(i32);

#[tool]
impl Base {
    /// Add to the base.
    #[tool]
    #[cfg_attr(all(), verify(run))]
    fn add(&self, number: i16) -> i64 {
        i64::from(self.0) + i64::from(number)
    }
}

fn main() {}
