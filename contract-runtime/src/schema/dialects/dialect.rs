//! The dialects by name.

use std::fmt;
use std::str::FromStr;

use crate::schema::renames::is_plain;

/// The format in which tools are exported.
///
/// Each has a name, for command lines and settings, which is also how it is shown.
///
/// ```
/// use contract_runtime::Dialect;
///
/// let dialect = Dialect::OpenAiResponses { strict: true };
/// assert_eq!(dialect.to_string(), "openai-responses-strict");
/// assert_eq!("openai-responses-strict".parse(), Ok(dialect));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `OpenAI` chat completions: `{"type":"function","function":{name, description, parameters, strict}}`.
    ///
    /// Source: `OpenAI` API specification, schema `ChatCompletionTool`, 2026.
    OpenAiChat {
        /// Whether the provider enforces the schema, which can then express less; a tool that cannot be strict is
        /// exported without it, see [`Export::not_strict`](crate::Export::not_strict).
        strict: bool,
    },
    /// `OpenAI` responses: `{"type":"function", name, description, parameters, strict}`.
    ///
    /// Source: `OpenAI` API specification, schema `FunctionTool`, 2026.
    OpenAiResponses {
        /// Whether the provider enforces the schema of each tool that can be strict.
        strict: bool,
    },
    /// Anthropic messages: `{name, description, input_schema, input_examples?, strict?}`.
    ///
    /// Source: Anthropic API reference, "Define tools", 2026.
    Anthropic {
        /// Whether the provider enforces the schema of each tool that can be strict.
        strict: bool,
    },
    /// Gemini function declarations whose `parameters` are an `OpenAPI` schema: `{name, description, parameters}`.
    ///
    /// Source: Gemini API, types `FunctionDeclaration` and `Schema`, 2026.
    GeminiParameters,
    /// Gemini function declarations with a JSON Schema: `{name, description, parametersJsonSchema}`.
    ///
    /// Source: Gemini API, type `FunctionDeclaration`, 2026.
    GeminiJsonSchema,
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
    pub const ALL: [Self; 11] = [
        Self::OpenAiChat { strict: false },
        Self::OpenAiChat { strict: true },
        Self::OpenAiResponses { strict: false },
        Self::OpenAiResponses { strict: true },
        Self::Anthropic { strict: false },
        Self::Anthropic { strict: true },
        Self::GeminiParameters,
        Self::GeminiJsonSchema,
        Self::Mcp(McpRevision::November2025),
        Self::Mcp(McpRevision::July2026),
        Self::Neutral,
    ];

    /// Returns its name, for command lines and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat { strict: false } => "openai-chat",
            Self::OpenAiChat { strict: true } => "openai-chat-strict",
            Self::OpenAiResponses { strict: false } => "openai-responses",
            Self::OpenAiResponses { strict: true } => "openai-responses-strict",
            Self::Anthropic { strict: false } => "anthropic",
            Self::Anthropic { strict: true } => "anthropic-strict",
            Self::GeminiParameters => "gemini-parameters",
            Self::GeminiJsonSchema => "gemini-json-schema",
            Self::Mcp(McpRevision::November2025) => "mcp-2025-11-25",
            Self::Mcp(McpRevision::July2026) => "mcp-2026-07-28",
            Self::Neutral => "neutral",
        }
    }

    /// Returns whether its clients certainly accept a property of this name.
    ///
    /// A property of another name is exported under one that they accept, and a call is understood by both.
    ///
    /// ```
    /// use contract_runtime::Dialect;
    ///
    /// assert!(Dialect::Anthropic { strict: false }.accepts("filter.name"));
    /// assert!(!Dialect::GeminiParameters.accepts("filter.name"));
    /// ```
    #[must_use]
    pub fn accepts(self, name: &str) -> bool {
        match self {
            Self::OpenAiChat { .. } | Self::OpenAiResponses { .. } => {
                let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                (1..=64).contains(&name.chars().count()) && name.chars().all(plain)
            }
            Self::Anthropic { .. } => {
                let plain =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
                (1..=64).contains(&name.len()) && name.bytes().all(plain)
            }
            Self::GeminiParameters | Self::GeminiJsonSchema => is_plain(name),
            Self::Mcp(_) | Self::Neutral => true,
        }
    }

    /// The same without `strict`, of a strict one.
    pub(crate) const fn loose(self) -> Option<Self> {
        match self {
            Self::OpenAiChat { strict: true } => Some(Self::OpenAiChat { strict: false }),
            Self::OpenAiResponses { strict: true } => Some(Self::OpenAiResponses { strict: false }),
            Self::Anthropic { strict: true } => Some(Self::Anthropic { strict: false }),
            _ => None,
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    pub(crate) fn index(self) -> usize {
        let place = Self::ALL.iter().position(|one| *one == self);
        place.unwrap_or_default()
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
