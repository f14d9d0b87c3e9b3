//! Judges the arguments of a call, and says everything that is wrong with them at once.
//!
//! Typed decoding is fast and stops at its first mistake. Where a type accepts more than its schema says, a quiet walk judges
//! the text of the value first. Where either fails, a loud walk along the neutral schema refuses the arguments with all
//! problems, or writes them anew in the form that the types read.

mod alternatives;
mod array;
mod correct;
mod describe;
mod examine;
mod object;
mod own_names;
mod place;
mod problem;
#[cfg(test)]
mod tests;
mod walk;

pub use correct::Coercion;
pub use describe::{Bounds, clip, escaped, unsafe_to_show};
pub use examine::{Examined, conforms, examine, read, read_values, with_formats};
pub use own_names::own_names;
pub use place::{ErrorPosition, locate};
pub use problem::{ArgumentProblem, InvalidArguments, ProblemKind, by_words, nearest, rejected};
pub use walk::end_of_admitted;
