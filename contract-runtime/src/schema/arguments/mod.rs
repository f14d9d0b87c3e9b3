//! The cold path of the dispatcher: everything that is wrong with the arguments of a call, in one reply.
//!
//! Typed decoding is fast and stops at its first mistake. Where it fails, or where a type accepts more
//! than its schema says, the arguments are parsed with their duplicate keys, walked along the neutral
//! schema, and either refused with all problems at once or written anew in the form the types read.

mod alternatives;
mod array;
mod edit;
mod examine;
mod expected;
mod found;
mod literal;
mod nearest;
mod node;
mod object;
mod path;
mod problem;
mod refusal;
mod scalar;
mod shown;
#[cfg(test)]
mod tests;
mod walk;

pub use edit::Coercion;
pub use problem::{ArgumentProblem, ProblemKind};
pub use refusal::InvalidArguments;

#[cfg(feature = "mcp")]
pub(crate) use examine::conforms;
pub(crate) use examine::{Examined, examine, read, read_values};
pub(crate) use nearest::nearest;
pub(crate) use refusal::rejected;
pub(crate) use shown::escaped;
#[cfg(feature = "remote")]
pub(crate) use shown::unsafe_to_show;
