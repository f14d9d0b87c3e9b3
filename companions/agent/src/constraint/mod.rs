//! Constrained decoding: the schema of a model's replies, in the form its engine takes.

mod approximation;
#[cfg(feature = "grammar")]
mod constrained_decoder;
mod engine;
mod gbnf;
#[cfg(feature = "grammar")]
mod recognizer;
mod reply_schema;
#[cfg(feature = "grammar")]
mod token_mask;

use std::sync::Arc;

use contract_runtime::{Registry, SchemaError, Validator};
use serde_json::Value;

pub use approximation::Approximation;
#[cfg(feature = "grammar")]
pub use constrained_decoder::{ConstrainedDecoder, DecodingStep, NextToken, TokenModel};
#[cfg(feature = "grammar")]
pub use recognizer::{Mismatch, Recognizer};
#[cfg(feature = "grammar")]
pub use token_mask::{TokenMask, TokenSet, Vocabulary};

/// The schema of a model's replies, as JSON Schema and as GBNF.
///
/// ```
/// use contract_agent::Constraint;
/// use contract_runtime::prelude::*;
///
/// /// Book a table.
/// #[tool]
/// #[pre(guests >= 1 && guests <= 12)]
/// fn book(guests: u8) {}
///
/// let registry = Registry::builder().tool(book).build()?;
/// let constraint = Constraint::replies(&registry, false)?;
/// assert!(constraint.json_schema().to_string().contains(r#""maximum":12"#));
/// assert!(constraint.gbnf().contains(r#""\"guests\"" ws ":" ws integer"#));
/// let approximated = constraint.approximations();
/// assert_eq!(approximated[1].to_string(), "GBNF approximates `maximum` at `book/guests`; the call checks it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The JSON Schema says everything that the registry says, and most engines take it. GBNF describes the shape of a reply: types,
/// properties, listed values and lengths. [`approximations`](Self::approximations) lists what a grammar leaves to the call, which
/// judges its arguments in any case. Properties come in the order of the schema, and GBNF leaves out those that it does not name.
#[derive(Clone)]
pub struct Constraint(Arc<Inner>);

struct Inner {
    schema: Value,
    #[cfg(feature = "grammar")]
    compiled: recognizer::Compiled,
}

impl Constraint {
    /// Builds the constraint for replies that are one JSON object each, which calls a tool of the registry or answers.
    ///
    /// With `reasoning` the object may begin with a text of that name. See
    /// [`ConstrainedAgent`](super::ConstrainedAgent) for the objects.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Schema`] when a call could not enforce the schema of a tool's arguments.
    pub fn replies(registry: &Registry, reasoning: bool) -> Result<Self, ConstraintError> {
        Self::from_schema(reply_schema::build(registry, reasoning))
    }

    /// Builds the constraint for texts that are one JSON value and satisfy a schema (JSON Schema 2020-12, without
    /// external references).
    ///
    /// ```
    /// use contract_agent::Constraint;
    /// use serde_json::json;
    ///
    /// let constraint = Constraint::from_schema(json!({"enum": ["red", "green"]}))?;
    /// assert!(constraint.gbnf().contains("red"));
    /// # Ok::<(), contract_agent::ConstraintError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Schema`] for a value that is not a schema or that a call could not enforce.
    pub fn from_schema(schema: Value) -> Result<Self, ConstraintError> {
        // No reference is without a target or leads back to itself, which the grammars rely on.
        Validator::of_value(schema.clone())?;
        Ok(Self(Arc::new(Inner {
            schema,
            #[cfg(feature = "grammar")]
            compiled: recognizer::Compiled::default(),
        })))
    }

    /// Returns the constraint as a self-contained JSON Schema (2020-12).
    #[must_use]
    pub fn json_schema(&self) -> &Value {
        &self.0.schema
    }

    /// Renders the shape of a reply as a GBNF grammar, for llama.cpp and engines built on it.
    #[must_use]
    pub fn gbnf(&self) -> String {
        gbnf::write(&self.0.schema)
    }

    #[cfg(feature = "grammar")]
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Lists the keywords of the schema that a grammar expresses only approximately.
    #[must_use]
    pub fn approximations(&self) -> Vec<Approximation> {
        approximation::list(&self.0.schema)
    }
}

impl std::fmt::Debug for Constraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constraint")
            .field("schema", &self.0.schema)
            .finish_non_exhaustive()
    }
}

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
