//! Errors in schemas that an author supplies.

/// An error in a schema that the dispatcher could not enforce, found when the tool is registered.
///
/// Every pointer is an RFC 6901 JSON pointer into the input schema of the tool.
///
/// ```
/// use contract_runtime::{SchemaError, Validator};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"user": {"$ref": "#/$defs/user"}}});
/// let error = Validator::of_arguments(schema).unwrap_err();
/// assert!(matches!(&error, SchemaError::Reference { pointer, .. } if pointer == "/properties/user"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A `$ref` leads nowhere, or outside the schema.
    #[error(
        "{}: the reference `{target}` does not resolve inside the schema",
        at(pointer)
    )]
    Reference {
        /// The schema that holds the `$ref`.
        pointer: String,
        /// The reference as written.
        target: String,
    },
    /// A schema refers to itself without descending into the value.
    #[error("{}: the schema refers to itself without an end", at(pointer))]
    Cycle {
        /// A schema on the cycle.
        pointer: String,
    },
    /// Schemas are nested too deeply, with references followed.
    #[error(
        "{}: schemas are nested more than {limit} deep here; make them flatter",
        at(pointer)
    )]
    Depth {
        /// The schema that is too deep.
        pointer: String,
        /// How deep they may be.
        limit: usize,
    },
    /// A regular expression that cannot be enforced.
    #[error(
        "{}: the pattern `{pattern}` cannot be enforced: {reason}",
        at(pointer)
    )]
    Pattern {
        /// Where the expression is.
        pointer: String,
        /// The expression as written.
        pattern: String,
        /// What the regular expression engine said.
        reason: String,
    },
    /// A keyword that restricts values and that the dispatcher cannot enforce.
    #[error("{}: the keyword `{keyword}` is not supported", at(pointer))]
    Keyword {
        /// The schema that holds the keyword.
        pointer: String,
        /// The keyword.
        keyword: String,
    },
    /// A keyword whose value has the wrong form.
    #[error("{}: expected {expected}", at(pointer))]
    Malformed {
        /// Where the value is.
        pointer: String,
        /// What JSON Schema requires there.
        expected: &'static str,
    },
    /// Two parameters of one tool share a name.
    #[error("two parameters are named `{name}`")]
    DuplicateParameter {
        /// The shared name.
        name: String,
    },
}

/// A pointer, or a name for the whole schema, whose pointer is empty.
fn at(pointer: &str) -> String {
    match pointer {
        "" => "the root".to_owned(),
        pointer => format!("`{pointer}`"),
    }
}
