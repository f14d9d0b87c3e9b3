//! What the replies of a model are held to, in the form that its engine takes.

mod convert;
mod error;
mod expression;
mod fraction;
mod gbnf;
mod keeps;
mod lark;
#[cfg(feature = "grammar")]
mod mask;
#[cfg(feature = "grammar")]
mod masked;
#[cfg(feature = "grammar")]
mod matching;
mod number;
mod object;
mod pattern;
mod protocol;
mod regular;
mod rules;
mod scalar;
mod shape;
mod weakened;

use std::sync::Arc;

use serde_json::Value;

pub use error::ConstraintError;
#[cfg(feature = "grammar")]
pub use mask::{Allowed, TokenMask, Vocabulary};
#[cfg(feature = "grammar")]
pub use masked::{Masked, MaskedModel, NextToken, Step};
#[cfg(feature = "grammar")]
pub use matching::{Matching, Mismatch};
pub use weakened::Weakened;

use crate::registry::Registry;
use rules::Rules;

/// What a reply may be, in every form that engines take: JSON Schema, GBNF, Lark, a regular expression.
///
/// ```
/// use contract_runtime::agent::Constraint;
/// use contract_runtime::prelude::*;
///
/// /// Book a table.
/// #[tool]
/// #[pre(guests >= 1 && guests <= 12)]
/// fn book(guests: u8) {}
///
/// let registry = Registry::builder().tool(book).build()?;
/// let constraint = Constraint::replies(&registry, false)?;
/// assert!(constraint.gbnf().contains(r#""1" [0-2]"#));
/// assert!(constraint.regex()?.contains(r#""guests" ?: ?"#));
/// assert!(constraint.weakened().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The JSON Schema says everything that the registry says. The grammars are made from it, and every text that they accept is a
/// reply with arguments that a call takes, up to what [`weakened`](Self::weakened) lists, to conditions that no schema says, and
/// to how deep values may be nested. They are narrower in how a value may be written: properties come in their order, those
/// that no type knows are left out, and a character under a `pattern` stands for itself. An integer without a bound has at most
/// 18 digits, a number at most 40 after its point, and nothing stands nearer to an exclusive bound than 15 digits can tell.
#[derive(Clone)]
pub struct Constraint(Arc<Inner>);

struct Inner {
    schema: Value,
    rules: Rules,
    weakened: Vec<Weakened>,
    #[cfg(feature = "grammar")]
    compiled: matching::Compiled,
}

impl Constraint {
    /// Replies that are one JSON object each, which calls a tool of the registry or answers.
    ///
    /// With `reasoning` the object may begin with a text of that name. See
    /// [`ConstrainedAgent`](super::ConstrainedAgent) for the objects.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::TooLarge`] when the arguments of a tool have too many alternatives.
    pub fn replies(registry: &Registry, reasoning: bool) -> Result<Self, ConstraintError> {
        Self::from_schema(protocol::schema(registry, reasoning))
    }

    /// Texts that are one JSON value each, which keeps a schema (JSON Schema 2020-12, without references to elsewhere).
    ///
    /// ```
    /// use contract_runtime::agent::Constraint;
    /// use serde_json::json;
    ///
    /// let constraint = Constraint::from_schema(json!({"type": "integer", "minimum": 1, "maximum": 6}))?;
    /// assert_eq!(constraint.regex()?, "[1-6] ?");
    /// # Ok::<(), contract_runtime::agent::ConstraintError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Schema`] for what is no schema, [`ConstraintError::Nothing`] for a schema that no
    /// value keeps, and [`ConstraintError::TooLarge`] for one with too many alternatives.
    pub fn from_schema(schema: Value) -> Result<Self, ConstraintError> {
        let (rules, weakened) = convert::convert(&schema)?;
        Ok(Self(Arc::new(Inner {
            schema,
            rules,
            weakened,
            #[cfg(feature = "grammar")]
            compiled: matching::Compiled::default(),
        })))
    }

    /// It as JSON Schema 2020-12, complete in itself.
    #[must_use]
    pub fn json_schema(&self) -> &Value {
        &self.0.schema
    }

    /// It as GBNF, for llama.cpp and what is built on it.
    #[must_use]
    pub fn gbnf(&self) -> String {
        gbnf::write(&self.0.rules)
    }

    /// It in the dialect of Lark that llguidance reads, for `vLLM`, `SGLang`, llama.cpp and others.
    #[must_use]
    pub fn lark(&self) -> String {
        lark::write(&self.0.rules)
    }

    /// It as a regular expression for a whole reply, where nothing contains itself.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Recursive`] for values of any depth, and [`ConstraintError::TooLarge`] for an expression of more
    /// than a megabyte.
    pub fn regex(&self) -> Result<String, ConstraintError> {
        expression::write(&self.0.rules)
    }

    #[cfg(feature = "grammar")]
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What the grammars say weaker than the schema.
    #[must_use]
    pub fn weakened(&self) -> &[Weakened] {
        &self.0.weakened
    }
}

impl std::fmt::Debug for Constraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constraint")
            .field("rules", &self.0.rules.list.len())
            .field("weakened", &self.0.weakened)
            .finish_non_exhaustive()
    }
}

/// A name for each rule, all different, in letters that every form takes.
fn names(rules: &Rules, start: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(rules.list.len());
    for (index, rule) in rules.list.iter().enumerate() {
        let plain = if index == 0 { start } else { &rule.name };
        let mut name = plain.to_owned();
        while names.contains(&name) {
            name = format!("{name}-{index}");
        }
        names.push(name);
    }
    names
}
