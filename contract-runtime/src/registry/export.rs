//! All tools in one provider's dialect, rendered once.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Registry;
use crate::schema::dialects::{self, Exported};
use crate::schema::stored::parse;
use crate::schema::{Dialect, ExportProblem};

/// Each export that was asked for, made once.
#[derive(Debug, Default)]
pub(super) struct Exports {
    made: [OnceLock<Result<Export, ExportError>>; Dialect::ALL.len()],
}

impl Exports {
    fn get(&self, dialect: Dialect) -> Option<&OnceLock<Result<Export, ExportError>>> {
        self.made.get(dialect.index())
    }
}

/// All tools of a registry in one provider's format.
///
/// It dereferences to the array of the tools, and is shown and serialized as that.
///
/// ```
/// use std::collections::BTreeMap;
/// use contract_runtime::{Dialect, prelude::*};
/// use serde_json::json;
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i32, b: i32) -> Option<i32> {
///     a.checked_add(b)
/// }
///
/// /// Set some options.
/// #[tool]
/// fn set(options: BTreeMap<String, String>) -> usize {
///     options.len()
/// }
///
/// let registry = Registry::builder().tool(add).tool(set).build()?;
/// let export = registry.export(Dialect::OpenAiResponses { strict: true }).unwrap();
/// assert_eq!((&export[0]["strict"], &export[1]["strict"]), (&json!(true), &json!(false)));
/// assert_eq!(
///     export.not_strict()[0].to_string(),
///     "`set`: an object with any keys at `/properties/options` cannot be expressed in this dialect; \
///      use a struct, or a list of keys with their values",
/// );
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Export {
    /// One of the two is there from the beginning, the other when somebody asks.
    tools: OnceLock<Value>,
    text: OnceLock<String>,
    not_strict: Vec<ExportProblem>,
}

impl Export {
    /// Returns the tools as a JSON array; where only the text was made, it is read at the first call and cached.
    #[must_use]
    pub fn tools(&self) -> &Value {
        self.tools.get_or_init(|| parse(self.text()))
    }

    /// Returns the tools as JSON text; it is written at the first call and cached, as every request to a model needs it.
    ///
    /// ```
    /// use contract_runtime::{Dialect, prelude::*};
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i32, b: i32) -> Option<i32> {
    ///     a.checked_add(b)
    /// }
    ///
    /// let registry = Registry::builder().tool(add).build()?;
    /// let export = registry.export(Dialect::Neutral).unwrap();
    /// assert!(export.text().starts_with(r#"[{"name":"add","description":"Add two numbers.""#));
    /// assert!(std::ptr::eq(export.text(), export.text()));
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| {
            // Where there is no text yet, there is a value.
            let tools = self.tools.get();
            tools.map(Value::to_string).unwrap_or_default()
        })
    }

    /// Returns why tools are exported without `strict` where the dialect is strict; empty if all are strict, or none need
    /// be.
    ///
    /// The schema of such a tool is a hint to the model, which is held to those of the others. A call is judged by the
    /// whole contract either way.
    #[must_use]
    pub fn not_strict(&self) -> &[ExportProblem] {
        &self.not_strict
    }
}

impl Deref for Export {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.tools()
    }
}

impl PartialEq for Export {
    fn eq(&self, other: &Self) -> bool {
        self.tools() == other.tools() && self.not_strict == other.not_strict
    }
}

impl PartialEq<Value> for Export {
    fn eq(&self, tools: &Value) -> bool {
        self.tools() == tools
    }
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return self.tools().fmt(f);
        }
        f.write_str(self.text())
    }
}

impl Serialize for Export {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tools().serialize(serializer)
    }
}

/// Why the tools of a registry cannot be exported to a dialect: every reason, together.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use contract_runtime::{Dialect, prelude::*};
///
/// /// Set some options.
/// #[tool]
/// fn set(options: BTreeMap<String, String>) -> usize {
///     options.len()
/// }
///
/// let registry = Registry::builder().tool(set).build()?;
/// let error = registry.export(Dialect::GeminiParameters).unwrap_err();
/// assert_eq!(error.problems().len(), 1);
/// assert_eq!(
///     error.to_string(),
///     "the tools cannot be exported to `gemini-parameters`:\n  - `set`: an object without properties at `/properties/options` \
///      cannot be expressed in this dialect; give it fields, use a list of keys with their values, or export with `parametersJsonSchema`",
/// );
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportError {
    dialect: Dialect,
    problems: Arc<[ExportProblem]>,
}

impl ExportError {
    /// Returns the requested dialect.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns each reason.
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
    /// Exports its tools as a list in one provider's format; the list is made at the first call and cached.
    ///
    /// Every schema accepts at least what the tool accepts. What a dialect has no keyword for stands in a description:
    /// nothing of a contract is lost. Where the dialect is strict, a tool that cannot be strict is exported without
    /// `strict` beside those that can, and [`Export::not_strict`] says why.
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
    /// [`ExportError`] with every [`ExportProblem`]: types and names that the dialect does not have even without `strict`,
    /// and totals that it does not accept in one request.
    pub fn export(&self, dialect: Dialect) -> Result<&Export, ExportError> {
        let make = || {
            let tools = self.tools().map(|tool| {
                move |definitions, dialect: Dialect| {
                    tool.describe(definitions, |name| dialect.accepts(name))
                }
            });
            match dialects::export(tools, dialect) {
                Ok((Exported::Text(text), not_strict)) => Ok(Export {
                    tools: OnceLock::new(),
                    text: text.into(),
                    not_strict,
                }),
                Ok((Exported::Value(tools), not_strict)) => Ok(Export {
                    tools: tools.into(),
                    text: OnceLock::new(),
                    not_strict,
                }),
                Err(problems) => Err(ExportError {
                    dialect,
                    problems: problems.into(),
                }),
            }
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
