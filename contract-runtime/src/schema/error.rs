//! What can be wrong with a schema an author hands in.

/// A schema that the dispatcher could not enforce, found when the tool is registered.
///
/// Every pointer is an RFC 6901 JSON pointer into the input schema of the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A `$ref` leads nowhere, or outside the schema.
    #[error("`{pointer}`: the reference `{target}` does not resolve inside the schema")]
    Reference {
        /// The schema that holds the `$ref`.
        pointer: String,
        /// The reference as written.
        target: String,
    },
    /// A schema refers to itself without taking a step into the value.
    #[error("`{pointer}`: the schema refers to itself without an end")]
    Cycle {
        /// A schema on the cycle.
        pointer: String,
    },
    /// Schemas stand in schemas too deeply, references followed.
    #[error("`{pointer}`: schemas are nested more than {limit} deep here; make them flatter")]
    Depth {
        /// The schema that is too deep.
        pointer: String,
        /// How deep they may be.
        limit: usize,
    },
    /// A regular expression that cannot be enforced.
    #[error("`{pointer}`: the pattern `{pattern}` cannot be enforced: {reason}")]
    Pattern {
        /// Where the expression stands.
        pointer: String,
        /// The expression as written.
        pattern: String,
        /// What the regular expression engine said.
        reason: String,
    },
    /// A keyword that restricts values and that the dispatcher does not enforce.
    #[error("`{pointer}`: the keyword `{keyword}` is not supported")]
    Keyword {
        /// The schema that holds the keyword.
        pointer: String,
        /// The keyword.
        keyword: String,
    },
    /// A keyword whose value has the wrong form.
    #[error("`{pointer}`: expected {expected}")]
    Malformed {
        /// Where the value stands.
        pointer: String,
        /// What JSON Schema wants there.
        expected: &'static str,
    },
    /// Two parameters of one tool share a name.
    #[error("two parameters are named `{name}`")]
    DuplicateParameter {
        /// The shared name.
        name: String,
    },
}
