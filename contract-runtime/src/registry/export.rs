//! All tools in one provider's format, rendered once.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Registry;
use crate::schema::stored::parse;
use crate::schema::{Definitions, Dialect, McpRevision, dialects};

/// Each export that was asked for, made once.
#[derive(Debug, Default)]
pub(super) struct Exports {
    made: [OnceLock<Export>; Dialect::ALL.len()],
}

impl Exports {
    fn of(&self, dialect: Dialect) -> &OnceLock<Export> {
        let [chat, responses, anthropic, november, july, neutral] = &self.made;
        match dialect {
            Dialect::OpenAiChat => chat,
            Dialect::OpenAiResponses => responses,
            Dialect::Anthropic => anthropic,
            Dialect::Mcp(McpRevision::November2025) => november,
            Dialect::Mcp(McpRevision::July2026) => july,
            Dialect::Neutral => neutral,
        }
    }
}

/// All tools of a registry in one provider's format.
///
/// It dereferences to the array of the tools, and is shown and serialized as that.
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
/// let export = registry.export(Dialect::Neutral);
/// assert_eq!(export[0]["name"], "add");
/// assert!(export.text().starts_with(r#"[{"name":"add","description":"Add two numbers.""#));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Export {
    text: String,
    tools: OnceLock<Value>,
}

impl Export {
    /// Returns the tools as a JSON array; the text is read at the first call, and the array is cached.
    #[must_use]
    pub fn tools(&self) -> &Value {
        self.tools.get_or_init(|| parse(&self.text))
    }

    /// Returns the tools as JSON text, which every request to a model needs.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
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
        self.tools() == other.tools()
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

impl Registry {
    /// Exports its tools as a list in one provider's format; the list is made at the first call and cached.
    ///
    /// Every schema accepts at least what the tool accepts. What has no keyword stands in a description: nothing of a contract
    /// is lost. The strict formats, and those that can express less, are in the crate
    /// [`contract-dialects`](https://docs.rs/contract-dialects).
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
    /// let tools = registry.export(Dialect::Anthropic);
    /// assert_eq!(
    ///     tools[0]["input_schema"]["properties"]["length"],
    ///     json!({"type": "integer", "description": "Where.", "default": 40, "minimum": 1, "maximum": 80}),
    /// );
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn export(&self, dialect: Dialect) -> &Export {
        self.inner.exports.of(dialect).get_or_init(|| {
            let accepts = |name: &str| dialect.accepts(name);
            let tools = self.tools();
            let tools = tools.map(|tool| tool.describe(Definitions::Inlined, accepts));
            Export {
                text: dialects::export(tools, dialect),
                tools: OnceLock::new(),
            }
        })
    }
}
