//! Why there is no grammar, or not in a form.

use crate::schema::SchemaError;

/// Why a constraint cannot be made, or cannot be said in a form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// It is no schema that a call could enforce.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// No text keeps the schema.
    #[error("no text keeps the schema; look for conditions that contradict each other")]
    Nothing,
    /// The grammar would be too large.
    #[error(
        "the grammar has more than {limit} {what} at `{at}`; split the schema, or accept more there"
    )]
    TooLarge {
        /// The place: the tool and then the way into its arguments.
        at: String,
        /// What there is too much of.
        what: &'static str,
        /// The most of it.
        limit: usize,
    },
    /// A regular expression knows no recursion.
    #[error(
        "`{rule}` contains itself, which no regular expression can say; hand over GBNF, Lark or the JSON Schema"
    )]
    Recursive {
        /// The rule of the grammar.
        rule: String,
    },
    /// The grammar engine refused the grammar.
    #[error("the grammar engine refused the grammar: {message}")]
    Engine {
        /// What it said.
        message: String,
    },
}
