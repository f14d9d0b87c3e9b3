//! What is wrong with a contract before any call: conditions that exclude each other, the types or the defaults.
//!
//! One small core in `const fn`s, without allocation and without traits: the compiler runs it over what is known to it, and a
//! registry runs it again over everything. It claims a fault only with a proof; what it cannot follow it passes over.

pub(crate) mod build;
mod compare;
mod domain;
mod facts;
mod given;
mod inside;
pub(crate) mod judge;
mod known;
mod message;
mod order;
mod range;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use facts::Facts;
pub(crate) use judge::broken;
pub(crate) use known::{Known, Value};
pub(crate) use texts::same;
