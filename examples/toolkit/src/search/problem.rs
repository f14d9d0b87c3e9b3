//! Why a search did not begin.

use crate::problem::Problem;

/// Why a search did not begin: one sentence, and what to do instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchProblem {
    /// The path cannot be searched.
    #[error(transparent)]
    Path(#[from] Problem),
    /// The pattern is not a regular expression.
    #[error(
        "the pattern is not a regular expression: {reason}, at character {character} of it; \
         correct it, or set `literal` to find the text as it is"
    )]
    Pattern {
        /// What is wrong.
        reason: String,
        /// Where it is wrong; the first character is 1.
        character: usize,
    },
    /// The pattern can match no line.
    #[error("the pattern asks for {what}, which no line holds; search for a part without it")]
    NoLine {
        /// Such as "a line break".
        what: String,
    },
    /// The pattern would take too much memory or time.
    #[error(
        "the pattern is too complex: {reason}; use fewer or smaller repeats such as `{{1,100}}`"
    )]
    Complex {
        /// Which limit it exceeds.
        reason: String,
    },
    /// A glob is wrong.
    #[error("`{glob}` is not a glob: {reason}; write it as in `*.rs` or `!docs/**`")]
    Glob {
        /// As it was given, fit to be shown.
        glob: String,
        /// What is wrong.
        reason: String,
    },
}
