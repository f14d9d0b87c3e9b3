//! A library that ships two tools and re-exports the crate it made them with.

pub use contract_runtime as contracts;

use contract_runtime::prelude::*;

/// Count the words of a text.
#[tool(read_only)]
#[pre(!text.is_empty(), "there is nothing to count")]
#[must_use]
pub fn count_words(
    /// Words are separated by white space.
    text: &str,
) -> usize {
    text.split_whitespace().count()
}

/// Write a text backwards.
#[tool(read_only)]
#[post(|reversed| reversed.len() == text.len())]
#[must_use]
pub fn reverse(text: &str) -> String {
    text.chars().rev().collect()
}
