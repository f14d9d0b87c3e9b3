//! All tools in one provider's format, rendered once.

use std::sync::OnceLock;

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

/// All tools of a registry in one format: as text, and as the JSON value that is read from it at the first request.
#[derive(Debug)]
struct Export {
    text: String,
    tools: OnceLock<Value>,
}

impl Registry {
    /// Exports its tools as a JSON array in one provider's format; it is made at the first call and cached.
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
    pub fn export(&self, dialect: Dialect) -> &Value {
        let export = self.exported(dialect);
        export.tools.get_or_init(|| parse(&export.text))
    }

    /// Exports its tools as [`export`](Self::export) does, as JSON text, which every request to a model needs.
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
    /// let tools = registry.export_text(Dialect::Neutral);
    /// assert!(tools.starts_with(r#"[{"name":"add","description":"Add two numbers.""#));
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn export_text(&self, dialect: Dialect) -> &str {
        &self.exported(dialect).text
    }

    fn exported(&self, dialect: Dialect) -> &Export {
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
