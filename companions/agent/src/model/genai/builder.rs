//! Configures a model: its name, its provider and the connection.

use std::fmt;
use std::time::Duration;

use contract_dialects::StrictDialect;
use genai::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::GenaiModel;
use super::environment;
use super::provider::Provider;
use super::request::{ReasoningEffort, Settings, ToolChoice};
use super::secrets::{Secrets, without_secrets};

/// Configures a model and its connection; see [`GenaiModel::builder`].
#[must_use]
pub struct GenaiModelBuilder {
    /// Its endpoint and secrets are set when the model is built.
    settings: Settings,
    endpoint: Option<String>,
    key: Option<Key>,
    headers: Vec<(String, String)>,
}

enum Key {
    Given(String),
    From(String),
}

/// Why a model cannot be built from its configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenaiBuildError {
    /// The model has no name.
    #[error("the model has no name; write `GenaiModel::builder(\"gpt-5.2\")`")]
    NoName,
    /// The environment names no provider.
    #[error("no provider has a key; set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`")]
    NoProvider,
    /// The environment names a provider, but none of its models.
    #[error("the environment has no model; set `{variable}`")]
    NoModel {
        /// The variable that would name the model.
        variable: &'static str,
    },
    /// There is no API key.
    #[error("the environment variable `{variable}` has no key; set it, or pass the key with `key`")]
    NoKey {
        /// The variable that was read.
        variable: String,
    },
    /// A key or a header contains characters that cannot be sent.
    #[error("`{header}` is not a valid header; use visible ASCII characters only")]
    Header {
        /// The name of the header; its value may be a secret.
        header: String,
    },
    /// The endpoint is not a valid address.
    #[error("the endpoint `{given}` is not a URL; write `https://host/v1`")]
    Endpoint {
        /// The given address, without password and query.
        given: String,
    },
    /// The dialect belongs to another provider.
    #[error(
        "{provider} does not accept tools in the dialect `{dialect}`; leave it out, or choose one of its own"
    )]
    Dialect {
        /// The provider.
        provider: Provider,
        /// The requested dialect.
        dialect: StrictDialect,
    },
    /// The HTTP client could not be created.
    #[error(
        "the HTTP client cannot be created: {message}; check the certificates and the proxy of this machine"
    )]
    Client {
        /// The message of the error.
        message: String,
    },
}

impl GenaiModelBuilder {
    pub(super) fn new(model: String) -> Self {
        Self {
            settings: Settings {
                provider: Provider::of_model(&model),
                model,
                endpoint: String::new(),
                dialect: None,
                streams: true,
                constrains: false,
                silence: Duration::from_secs(300),
                retries: 2,
                max_tokens: None,
                temperature: None,
                effort: None,
                tool_choice: None,
                caches: false,
                extra_body: Map::new(),
                secrets: Secrets::default(),
            },
            endpoint: None,
            key: None,
            headers: Vec::new(),
        }
    }

    /// Sets the protocol; the default is the choice of [`Provider::of_model`].
    pub fn provider(mut self, provider: Provider) -> Self {
        self.settings.provider = provider;
        self
    }

    /// Sets the server, by the address above `chat/completions`, `messages` or `models`: `http://localhost:11434/v1`.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Sets the API key. Without a key and an [`endpoint`](Self::endpoint), both come from the environment: the key from
    /// [`Provider::key_variable`], and the endpoint from the variable beside it, such as `OPENAI_BASE_URL`. Another
    /// endpoint gets only a key that was chosen for it.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Key::Given(key.into()));
        self
    }

    /// Reads the key from this environment variable. If it is one of the provider's own, the key belongs to the endpoint
    /// that the environment names beside it, unless another endpoint is given here.
    pub fn key_from(mut self, variable: impl Into<String>) -> Self {
        self.key = Some(Key::From(variable.into()));
        self
    }

    /// Adds a header, such as gateways require; its value is treated as a secret.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the dialect in which tools are passed, so that the provider enforces their schemas; for Gemini,
    /// [`StrictDialect::GeminiParameters`] in place of [`StrictDialect::GeminiJsonSchema`].
    pub fn dialect(mut self, dialect: StrictDialect) -> Self {
        self.settings.dialect = Some(dialect);
        self
    }

    /// Sets whether replies are streamed; they are by default. A stream of chat completions that does not end with `[DONE]` counts as
    /// cut off: turn streaming off for such a server.
    pub fn streaming(mut self, streams: bool) -> Self {
        self.settings.streams = streams;
        self
    }

    /// Sets whether the server is sent the [`response_schema`](crate::Request::response_schema) of a request; off by default, because
    /// hosted models accept only a part of JSON Schema and refuse the rest.
    pub fn constrains(mut self, constrains: bool) -> Self {
        self.settings.constrains = constrains;
        self
    }

    /// Sets how long the server may be silent; the default is five minutes. Without streaming it is silent until the
    /// reply is complete.
    pub fn timeout(mut self, silence: Duration) -> Self {
        self.settings.silence = silence;
        self
    }

    /// Sets how often a failed request is retried, after the wait that the server asks for; the default is twice. A server that asks
    /// for more than a minute is not asked again.
    ///
    /// That is so where it is busy or fails (status 408, 429, 500, 502, 503, 504 or 529), where there is no connection, and where
    /// that is lost before the first piece of a reply. A reply of which a piece was given out is never asked for again.
    pub fn retries(mut self, most: u32) -> Self {
        self.settings.retries = most;
        self
    }

    /// Sets the maximum number of tokens of a reply, unless the request does.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.settings.max_tokens = Some(tokens);
        self
    }

    /// Sets the sampling temperature, from 0; the default is the provider's.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// Sets how much the model thinks before it speaks; the default is the provider's.
    pub fn reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.settings.effort = Some(effort);
        self
    }

    /// Sets which tools the model may call, in requests that have tools; the default is any.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.settings.tool_choice = Some(choice);
        self
    }

    /// Sets whether the conversation is cached; it is not by default. Anthropic charges for writing its cache and gets a mark at the end
    /// of each request; other providers cache by themselves.
    pub fn prompt_caching(mut self, caches: bool) -> Self {
        self.settings.caches = caches;
        self
    }

    /// Adds a field to the body of every request, in place of any of the same name: `extra_body("top_k", 40)`. A field that is an object,
    /// such as Gemini's `generationConfig`, is replaced as a whole.
    pub fn extra_body(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.settings.extra_body.insert(field.into(), value.into());
        self
    }

    /// Builds the model.
    ///
    /// # Errors
    ///
    /// [`GenaiBuildError`] says what of this cannot be used. Nothing is sent here.
    pub fn build(self) -> Result<GenaiModel, GenaiBuildError> {
        self.build_in(&|variable: &str| std::env::var(variable).ok())
    }

    /// The model, in an environment.
    pub(super) fn build_in(
        self,
        read: &impl Fn(&str) -> Option<String>,
    ) -> Result<GenaiModel, GenaiBuildError> {
        let mut settings = self.settings.clone();
        if settings.model.trim().is_empty() {
            return Err(GenaiBuildError::NoName);
        }
        let provider = settings.provider;
        let foreign = |dialect: &StrictDialect| !provider.takes(*dialect);
        if let Some(dialect) = settings.dialect.filter(foreign) {
            return Err(GenaiBuildError::Dialect { provider, dialect });
        }
        let (key, endpoint) = self.key_and_endpoint(read)?;
        let headers = self.request_headers(provider, key.as_deref(), &mut settings.secrets)?;
        settings.endpoint = match endpoint {
            Some(endpoint) => checked(endpoint, &mut settings.secrets)?,
            None => provider.facts().endpoint.to_owned(),
        };
        let client = reqwest::Client::builder()
            .default_headers(headers)
            // A key must not travel to wherever a server points.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.silence)
            .tcp_nodelay(true)
            .build();
        let unbuilt = |error: &dyn fmt::Display| GenaiBuildError::Client {
            message: settings.secrets.hide(&error.to_string()),
        };
        let client = client.map_err(|error| unbuilt(&error))?;
        let client = Client::builder().with_reqwest(client).build();
        let client = client.map_err(|error| unbuilt(&error))?;
        Ok(GenaiModel { client, settings })
    }

    /// The key, if any, and the endpoint, if it is not the provider's own. A key of the environment goes to the endpoint that the
    /// environment names beside it, and to another one only if the program chose both.
    fn key_and_endpoint(
        &self,
        read: &impl Fn(&str) -> Option<String>,
    ) -> Result<(Option<String>, Option<String>), GenaiBuildError> {
        let (provider, endpoint) = (self.settings.provider, self.endpoint.clone());
        let facts = provider.facts();
        let (key, variable) = match &self.key {
            Some(Key::Given(key)) => return Ok((Some(key.trim().to_owned()), endpoint)),
            Some(Key::From(variable)) => (environment::set(read, variable), variable.as_str()),
            None if endpoint.is_some() => return Ok((None, endpoint)),
            None => (environment::key(provider, read), facts.key),
        };
        let own = [Some(facts.key), facts.other_key].contains(&Some(variable));
        let beside = || environment::endpoint(provider, read).filter(|_| own);
        let endpoint = endpoint.or_else(beside);
        // A server of one's own may need none.
        if key.is_none() && (self.key.is_some() || endpoint.is_none()) {
            return Err(GenaiBuildError::NoKey {
                variable: variable.to_owned(),
            });
        }
        Ok((key, endpoint))
    }

    /// The headers of every request; the secret ones are not shown in logs.
    fn request_headers(
        &self,
        provider: Provider,
        key: Option<&str>,
        secrets: &mut Secrets,
    ) -> Result<HeaderMap, GenaiBuildError> {
        let mut headers = HeaderMap::new();
        if provider == Provider::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        let key = key.filter(|key| !key.is_empty()).map(|key| {
            secrets.add(key);
            let (name, value) = provider.key_header(key);
            (name.to_owned(), value)
        });
        for (name, value) in key.into_iter().chain(self.headers.iter().cloned()) {
            let unsendable = || GenaiBuildError::Header {
                header: name.clone(),
            };
            secrets.add(&value);
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable())?;
            let mut value = HeaderValue::from_str(&value).map_err(|_| unsendable())?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }
}

/// An endpoint that can be asked; what of it is secret is remembered.
fn checked(endpoint: String, secrets: &mut Secrets) -> Result<String, GenaiBuildError> {
    let url = reqwest::Url::parse(&endpoint)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        return Err(GenaiBuildError::Endpoint {
            given: without_secrets(&endpoint),
        });
    };
    secrets.add(url.password().unwrap_or_default());
    secrets.add(url.query().unwrap_or_default());
    Ok(endpoint)
}

/// Without the key and the values of headers.
impl fmt::Debug for GenaiModelBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModelBuilder")
            .field("model", &self.settings.model)
            .field("provider", &self.settings.provider)
            .field("endpoint", &self.endpoint.as_deref().map(without_secrets))
            .finish_non_exhaustive()
    }
}
