//! The strict and reduced dialects by name.

use std::fmt;

use contract_runtime::Dialect;

/// A format whose schemas a provider enforces, or which can express less than JSON Schema.
///
/// Each has a name, for command lines and settings, which is also how it is shown.
///
/// ```
/// use contract_dialects::StrictDialect;
///
/// let names = StrictDialect::ALL.map(StrictDialect::name);
/// assert!(names.contains(&"openai-responses-strict"));
/// assert_eq!(StrictDialect::GeminiParameters.to_string(), "gemini-parameters");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StrictDialect {
    /// `OpenAI` chat completions: `{"type":"function","function":{name, description, parameters, strict}}`.
    ///
    /// Source: `OpenAI` API specification, schema `ChatCompletionTool`, 2026.
    OpenAiChat,
    /// `OpenAI` responses: `{"type":"function", name, description, parameters, strict}`.
    ///
    /// Source: `OpenAI` API specification, schema `FunctionTool`, 2026.
    OpenAiResponses,
    /// Anthropic messages: `{name, description, input_schema, strict, input_examples?}`.
    ///
    /// Source: Anthropic API reference, "Define tools", 2026.
    Anthropic,
    /// Gemini function declarations whose `parameters` are an `OpenAPI` schema: `{name, description, parameters}`.
    ///
    /// Source: Gemini API, types `FunctionDeclaration` and `Schema`, 2026.
    GeminiParameters,
    /// Gemini function declarations with a JSON Schema: `{name, description, parametersJsonSchema}`.
    ///
    /// Source: Gemini API, type `FunctionDeclaration`, 2026.
    GeminiJsonSchema,
}

impl StrictDialect {
    /// Every dialect.
    pub const ALL: [Self; 5] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::GeminiParameters,
        Self::GeminiJsonSchema,
    ];

    /// Returns its name, for command lines and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat-strict",
            Self::OpenAiResponses => "openai-responses-strict",
            Self::Anthropic => "anthropic-strict",
            Self::GeminiParameters => "gemini-parameters",
            Self::GeminiJsonSchema => "gemini-json-schema",
        }
    }

    /// Returns the same format without `strict`, in which a tool is exported that cannot be strict; `None` for Gemini.
    #[must_use]
    pub const fn plain(self) -> Option<Dialect> {
        match self {
            Self::OpenAiChat => Some(Dialect::OpenAiChat),
            Self::OpenAiResponses => Some(Dialect::OpenAiResponses),
            Self::Anthropic => Some(Dialect::Anthropic),
            Self::GeminiParameters | Self::GeminiJsonSchema => None,
        }
    }
}

impl fmt::Display for StrictDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
