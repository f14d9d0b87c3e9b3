//! Tools of a crate that knows the runtime under another name.

pub use ct as contracts;

use ct::{contract_assert, post, pre, tool};

/// Halve an even number.
#[tool(crate = ct, read_only)]
#[pre(number.is_multiple_of(2), "{number} is odd")]
#[post(|half| half * 2 == old(number))]
#[must_use]
pub fn half(number: u32) -> u32 {
    contract_assert!(number < 1000, "{number} is too much");
    number / 2
}

/// Halve an even number, without being a tool.
#[pre(number.is_multiple_of(2), crate = ct)]
#[must_use]
pub fn halved(number: u32) -> u32 {
    number / 2
}

/// A number that can be added to.
#[derive(Debug)]
pub struct Base(pub u32);

#[tool(crate = ct)]
impl Base {
    /// Add to the base.
    #[tool(read_only)]
    #[pre(number > 0)]
    async fn add(&self, number: u32) -> u32 {
        std::future::ready(self.0 + number).await
    }
}
