//! Finds contradictions in a contract: between conditions, types and defaults.
//!
//! A condition takes values away from the [`Domain`](domain::Domain) of a parameter ([`narrow`]); a contradiction is reported only where
//! none is left, so whatever cannot be evaluated proves nothing. The compiler looks at one parameter at a time ([`judge`]), in `const fn`s.
//! A registry looks at all parameters and at the values of constants, and tries the sides of each `||` (`registry/solver.rs`).

pub(crate) mod domain;
pub(crate) mod judge;
pub(crate) mod narrow;

pub(crate) use domain::{Known, Value, same};
