//! Finds contradictions in a contract: between conditions, types and defaults.
//!
//! One small core in `const fn`s, without allocation and without traits: the compiler runs it over what is known to it, and a
//! registry runs it again over everything. It claims a fault only with a proof; what it cannot follow it passes over.

mod abstract_state;
mod apart;
mod assumptions;
pub(crate) mod build;
mod compare;
mod constants;
mod domain;
pub(crate) mod judge;
mod message;
mod order;
mod quantifiers;
mod range;
mod string_domain;
#[cfg(test)]
mod tests;

pub(crate) use abstract_state::AbstractState;
pub(crate) use constants::{Known, Value};
pub(crate) use judge::broken;
pub(crate) use string_domain::same;
