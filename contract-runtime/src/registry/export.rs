//! All tools in the manner of one provider, made once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::Registry;
use crate::schema::dialects;
use crate::schema::{Dialect, ExportProblem};

type Export = Result<Value, ExportError>;

/// Each export that was asked for, made once.
#[derive(Debug, Default)]
pub(super) struct Exports {
    made: [OnceLock<Export>; Dialect::ALL.len()],
}

impl Exports {
    fn get(&self, dialect: Dialect) -> Option<&OnceLock<Export>> {
        self.made.get(dialect.index())
    }
}

/// Why the tools of a registry cannot be said in a dialect: every reason, together.
///
/// ```
/// use contract_runtime::{Dialect, prelude::*};
///
/// /// Say it again.
/// #[tool]
/// fn echo(what: serde_json::Value) -> serde_json::Value {
///     what
/// }
///
/// let registry = Registry::builder().tool(echo).build()?;
/// let error = registry.export(Dialect::OpenAiChat { strict: true }).unwrap_err();
/// assert_eq!(error.problems().len(), 1);
/// assert_eq!(
///     error.to_string(),
///     "the tools cannot be exported to `openai-chat-strict`:\n  - `echo`: a value of any type at `/properties/what` \
///      cannot be said in this dialect; give it a type, or export without `strict`",
/// );
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportError {
    dialect: Dialect,
    problems: Arc<[ExportProblem]>,
}

impl ExportError {
    /// The dialect that was asked for.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Each reason.
    #[must_use]
    pub fn problems(&self) -> &[ExportProblem] {
        &self.problems
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tools cannot be exported to `{}`:", self.dialect)?;
        self.problems
            .iter()
            .try_for_each(|problem| write!(f, "\n  - {problem}"))
    }
}

impl std::error::Error for ExportError {}

impl Registry {
    /// Its tools as a list, in the manner of one provider; made at the first call and kept.
    ///
    /// Every schema accepts at least what the tool accepts. What a dialect has no keyword for stands in a description:
    /// nothing of a contract is lost.
    ///
    /// ```
    /// use contract_runtime::{Dialect, prelude::*};
    /// use serde_json::json;
    ///
    /// /// Cut a text.
    /// #[tool]
    /// #[pre(length >= 1 && length <= 80)]
    /// fn cut(
    ///     /// What to cut.
    ///     text: String,
    ///     /// Where.
    ///     #[arg(default = 40)]
    ///     length: u16,
    /// ) -> String {
    ///     text.chars().take(length.into()).collect()
    /// }
    ///
    /// let registry = Registry::builder().tool(cut).build()?;
    /// let tools = registry.export(Dialect::OpenAiResponses { strict: true }).unwrap();
    /// assert_eq!(tools[0]["strict"], json!(true));
    /// assert_eq!(
    ///     tools[0]["parameters"]["properties"]["length"],
    ///     json!({"type": ["integer", "null"], "description": "Where. (default 40)", "minimum": 1, "maximum": 80}),
    /// );
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExportError`] with every [`ExportProblem`]: types and names that the dialect does not have, and totals that it
    /// does not accept in one request.
    pub fn export(&self, dialect: Dialect) -> Result<&Value, ExportError> {
        let make = || {
            let tools: Vec<_> = self.tools().map(|tool| tool.neutral()).collect();
            dialects::export(&tools, dialect).map_err(|problems| ExportError {
                dialect,
                problems: problems.into(),
            })
        };
        match self.inner.exports.get(dialect) {
            Some(export) => export.get_or_init(make).as_ref().map_err(Clone::clone),
            // Every dialect has its place.
            None => Err(ExportError {
                dialect,
                problems: Arc::default(),
            }),
        }
    }
}
