//! The slow path of argument decoding: reports everything wrong with the arguments of a call at once.
//!
//! Typed decoding is fast and stops at its first mistake. Where a type accepts more than its schema says, the text of the value
//! is judged first, in one pass (`stream`). Where either fails, the arguments are parsed with their duplicate keys, walked
//! along the neutral schema, and either refused with all problems at once or written anew in the form the types read.

mod alternatives;
mod array;
mod bounds;
mod edit;
mod error_position;
mod escape;
mod examine;
mod expected;
mod findings;
mod literal;
mod nearest;
mod node;
mod object;
mod own_names;
mod path;
mod problem;
mod refusal;
mod scalar;
mod stream;
#[cfg(test)]
mod tests;
mod walk;

pub use edit::Coercion;
pub use problem::{ArgumentProblem, ProblemKind};
pub use refusal::InvalidArguments;

pub use bounds::Bounds;
pub use error_position::{ErrorPosition, locate};
pub use escape::clip;
pub use escape::{escaped, unsafe_to_show};
pub use examine::{Examined, conforms, examine, read, read_values, with_formats};
pub use nearest::by_words;
pub use nearest::nearest;
pub use own_names::own_names;
pub use refusal::rejected;
pub use stream::end_of_admitted;
