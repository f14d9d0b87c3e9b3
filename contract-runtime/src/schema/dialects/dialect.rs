//! The dialects by name.

use std::fmt;
use std::str::FromStr;

/// The format in which tools are listed, with their whole schema; a provider takes it as a hint to the model.
///
/// The crate [`contract-dialects`](https://docs.rs/contract-dialects) has the formats that can express less: the strict ones, whose
/// schemas a provider enforces, and those of Gemini. Each has a name, for command lines and settings, which is also how it is shown.
///
/// ```
/// use contract_runtime::Dialect;
///
/// assert_eq!(Dialect::OpenAiResponses.to_string(), "openai-responses");
/// assert_eq!("openai-responses".parse(), Ok(Dialect::OpenAiResponses));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `OpenAI` chat completions: `{"type":"function","function":{name, description, parameters, strict}}`.
    ///
    /// Source: `OpenAI` API specification, schema `ChatCompletionTool`, 2026.
    OpenAiChat,
    /// `OpenAI` responses: `{"type":"function", name, description, parameters, strict}`.
    ///
    /// Source: `OpenAI` API specification, schema `FunctionTool`, 2026.
    OpenAiResponses,
    /// Anthropic messages: `{name, description, input_schema, input_examples?}`.
    ///
    /// Source: Anthropic API reference, "Define tools", 2026.
    Anthropic,
    /// Tools as a server of the Model Context Protocol lists them.
    ///
    /// Source: Model Context Protocol, "Tools", in the revision.
    Mcp(McpRevision),
    /// `{name, description, parameters}` with plain JSON Schema 2020-12, and `title` and `output` where there are any.
    Neutral,
}

/// A revision of the Model Context Protocol, identified by its date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum McpRevision {
    /// 2025-11-25: results are described only if they are objects.
    November2025,
    /// 2026-07-28: results are always described.
    July2026,
}

impl McpRevision {
    /// Returns the revision as the protocol spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 6] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Mcp(McpRevision::November2025),
        Self::Mcp(McpRevision::July2026),
        Self::Neutral,
    ];

    /// Returns its name, for command lines and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Mcp(McpRevision::November2025) => "mcp-2025-11-25",
            Self::Mcp(McpRevision::July2026) => "mcp-2026-07-28",
            Self::Neutral => "neutral",
        }
    }

    /// Returns whether its provider certainly accepts a property of this name.
    ///
    /// A property of another name is exported under one that is accepted, and a call is understood by both. Anthropic's rule is
    /// that of the errors of its API, for parameters; fields further inside are treated alike, to be on the safe side. About
    /// `OpenAI` nothing is documented; names of another form are avoided.
    ///
    /// Source: anthropics/claude-code#79418, ComposioHQ/composio#3500, 2026.
    ///
    /// ```
    /// use contract_runtime::Dialect;
    ///
    /// assert!(Dialect::Anthropic.accepts("filter.name"));
    /// assert!(!Dialect::OpenAiChat.accepts("filter.name"));
    /// ```
    #[must_use]
    pub fn accepts(self, name: &str) -> bool {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => {
                let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                (1..=64).contains(&name.chars().count()) && name.chars().all(plain)
            }
            Self::Anthropic => {
                let plain =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
                (1..=64).contains(&name.len()) && name.bytes().all(plain)
            }
            Self::Mcp(_) | Self::Neutral => true,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not the name of a [`Dialect`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect `{given}`; write one of {}", Dialect::ALL.map(|one| format!("`{one}`")).join(", "))]
pub struct UnknownDialect {
    given: String,
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    /// Reads the exact name of a dialect.
    ///
    /// # Errors
    ///
    /// [`UnknownDialect`] for any other text, with all names.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.name() == text)
            .ok_or_else(|| UnknownDialect {
                given: text.chars().take(40).collect(),
            })
    }
}
