//! Differences between providers.

use std::fmt;

use contract_dialects::StrictDialect;
use genai::adapter::AdapterKind;

/// The protocol of a provider; many servers speak the protocol of another provider.
///
/// ```
/// use contract_agent::Provider;
///
/// assert_eq!(Provider::of_model("claude-opus-4-1"), Provider::Anthropic);
/// assert_eq!(Provider::of_model("llama3.3:70b"), Provider::OpenAi);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// `OpenAI` chat completions, and every server that speaks it.
    OpenAi,
    /// Anthropic messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
}

/// The names that belong to a provider.
pub(super) struct Facts {
    name: &'static str,
    /// Its name in spans, as OpenTelemetry has it.
    pub(super) in_spans: &'static str,
    pub(super) adapter: AdapterKind,
    pub(super) endpoint: &'static str,
    /// The environment variables that may hold its key; the first that is set is the key.
    pub(super) key: &'static str,
    pub(super) other_key: Option<&'static str>,
    pub(super) model_variable: &'static str,
    pub(super) endpoint_variable: &'static str,
    /// What the endpoint of the environment may lack at its end.
    pub(super) version: &'static str,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Chooses the provider by the name of a model: `claude..` is Anthropic's, `gemini..` Gemini's, and any other is
    /// reached over chat completions.
    #[must_use]
    pub fn of_model(name: &str) -> Self {
        if name.starts_with("claude") {
            Self::Anthropic
        } else if name.starts_with("gemini") {
            Self::Gemini
        } else {
            Self::OpenAi
        }
    }

    /// Returns its name, for command lines and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the environment variable that usually holds its key; for Gemini, `GOOGLE_API_KEY` is read if this one is
    /// not set.
    #[must_use]
    pub const fn key_variable(self) -> &'static str {
        self.facts().key
    }

    pub(super) const fn facts(self) -> &'static Facts {
        match self {
            Self::OpenAi => &Facts {
                name: "openai",
                in_spans: "openai",
                adapter: AdapterKind::OpenAI,
                endpoint: "https://api.openai.com/v1/",
                key: "OPENAI_API_KEY",
                other_key: None,
                model_variable: "OPENAI_MODEL",
                endpoint_variable: "OPENAI_BASE_URL",
                version: "",
            },
            Self::Anthropic => &Facts {
                name: "anthropic",
                in_spans: "anthropic",
                adapter: AdapterKind::Anthropic,
                endpoint: "https://api.anthropic.com/v1/",
                key: "ANTHROPIC_API_KEY",
                other_key: None,
                model_variable: "ANTHROPIC_MODEL",
                endpoint_variable: "ANTHROPIC_BASE_URL",
                version: "/v1",
            },
            Self::Gemini => &Facts {
                name: "gemini",
                in_spans: "gcp.gemini",
                adapter: AdapterKind::Gemini,
                endpoint: "https://generativelanguage.googleapis.com/v1beta/",
                key: "GEMINI_API_KEY",
                other_key: Some("GOOGLE_API_KEY"),
                model_variable: "GEMINI_MODEL",
                endpoint_variable: "GOOGLE_GEMINI_BASE_URL",
                version: "/v1beta",
            },
        }
    }

    pub(super) const fn takes(self, dialect: StrictDialect) -> bool {
        matches!(
            (self, dialect),
            (Self::OpenAi, StrictDialect::OpenAiChat)
                | (Self::Anthropic, StrictDialect::Anthropic)
                | (
                    Self::Gemini,
                    StrictDialect::GeminiJsonSchema | StrictDialect::GeminiParameters
                )
        )
    }

    /// The header of the key, and its value.
    pub(super) fn key_header(self, key: &str) -> (&'static str, String) {
        match self {
            Self::OpenAi => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// Where a request goes: below the endpoint, whose query stays.
    pub(super) fn url(self, endpoint: &str, model: &str, streams: bool) -> String {
        let (base, query) = match endpoint.split_once('?') {
            Some((base, query)) => (base, Some(query)),
            None => (endpoint, None),
        };
        let base = base.trim_end_matches('/');
        let (path, own) = match (self, streams) {
            (Self::OpenAi, _) => ("chat/completions".to_owned(), None),
            (Self::Anthropic, _) => ("messages".to_owned(), None),
            (Self::Gemini, true) => (
                format!("models/{model}:streamGenerateContent"),
                Some("alt=sse"),
            ),
            (Self::Gemini, false) => (format!("models/{model}:generateContent"), None),
        };
        let query: Vec<&str> = own.into_iter().chain(query).collect();
        if query.is_empty() {
            return format!("{base}/{path}");
        }
        format!("{base}/{path}?{}", query.join("&"))
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Provider;

    #[test]
    fn a_request_goes_below_the_endpoint_with_or_without_its_last_slash() {
        for base in ["http://host/v1", "http://host/v1/"] {
            let url = Provider::OpenAi.url(base, "m", true);
            assert_eq!(url, "http://host/v1/chat/completions");
        }
        assert_eq!(
            Provider::Gemini.url("http://host/v1beta?zone=eu", "m", true),
            "http://host/v1beta/models/m:streamGenerateContent?alt=sse&zone=eu"
        );
        assert_eq!(
            Provider::Anthropic.url("http://host/v1/?a=1", "m", false),
            "http://host/v1/messages?a=1"
        );
    }
}
