//! Finds contradictions in a contract: between conditions, types and defaults.
//!
//! Branch and prune over intervals (Van Hentenryck, Michel and Deville, Numerica, 1997): [`Evaluation`] says whether a condition
//! holds of all values of some domains, of none, or may do either; where it may do either, a domain is split. A contradiction is
//! reported only where every part was refuted, so whatever cannot be evaluated proves nothing.
//!
//! The compiler searches the values of one parameter at a time ([`judge`]); a registry searches those of all parameters together,
//! and knows the values of constants ([`solver`]). Both ask the same evaluation, whose functions are therefore `const`.

mod domain;
mod evaluation;
pub(crate) mod judge;
pub(crate) mod solver;
#[cfg(test)]
mod tests;

pub(crate) use domain::{Known, Value, same};
