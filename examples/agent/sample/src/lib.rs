//! A little library for the agent to look at.

/// Doubles a number.
pub fn double(number: i64) -> i64 {
    number * 2
}
