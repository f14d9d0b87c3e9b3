//! Errors of a constraint.

use contract_runtime::SchemaError;

/// Why a constraint cannot be built or enforced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// A call could not enforce the schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// llguidance cannot compile the schema, or a reply exceeds its limits.
    #[error("llguidance failed: {message}")]
    Engine {
        /// The message of the engine.
        message: String,
    },
}
