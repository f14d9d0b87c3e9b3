//! Says which model is meant, and how it is reached.

use std::fmt;
use std::time::Duration;

use genai::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::provider::Provider;
use super::retries::Retries;
use super::secrets::{Secrets, shown};
use super::{GenaiModel, Settings};
use crate::schema::Dialect;

/// Says which model is meant, and how it is reached; see [`GenaiModel::builder`].
#[must_use]
pub struct GenaiModelBuilder {
    model: String,
    provider: Option<Provider>,
    endpoint: Option<String>,
    key: Option<Key>,
    headers: Vec<(String, String)>,
    dialect: Option<Dialect>,
    streams: bool,
    constrains: bool,
    silence: Duration,
    retries: Retries,
    max_tokens: Option<u32>,
    temperature: Option<f64>,
}

enum Key {
    Given(String),
    From(String),
}

/// Why there is no model: what it was given cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenaiBuildError {
    /// The model has no name.
    #[error("the model has no name; write `GenaiModel::builder(\"gpt-5.2\")`")]
    NoName,
    /// The environment names no provider.
    #[error(
        "no key of a provider is set; set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`"
    )]
    NoProvider,
    /// The environment names a provider, and none of its models.
    #[error("the environment names no model; set `{variable}`")]
    NoModel {
        /// The variable that would.
        variable: &'static str,
    },
    /// There is no key.
    #[error(
        "the environment variable `{variable}` holds no key; set it, or give the key with `key`"
    )]
    NoKey {
        /// The variable that was read.
        variable: String,
    },
    /// A key, or a header, holds what cannot be sent.
    #[error("`{header}` cannot be sent as a header; it may hold visible ASCII characters only")]
    Header {
        /// Its name; its value may be a secret.
        header: String,
    },
    /// The endpoint is not an address.
    #[error("the endpoint `{given}` is not an address; write `https://host/v1`")]
    Endpoint {
        /// What was given, without password and query.
        given: String,
    },
    /// The dialect belongs to another provider.
    #[error(
        "{provider} takes no tools in the dialect `{dialect}`; leave it out, or choose one of its own"
    )]
    Dialect {
        /// The provider.
        provider: Provider,
        /// What was asked for.
        dialect: Dialect,
    },
    /// The HTTP client cannot be made.
    #[error(
        "the HTTP client cannot be made: {message}; check the certificates and the proxy of this machine"
    )]
    Client {
        /// What it said.
        message: String,
    },
}

impl GenaiModelBuilder {
    pub(super) fn new(model: String) -> Self {
        Self {
            model,
            provider: None,
            endpoint: None,
            key: None,
            headers: Vec::new(),
            dialect: None,
            streams: true,
            constrains: false,
            silence: Duration::from_secs(300),
            retries: Retries::default(),
            max_tokens: None,
            temperature: None,
        }
    }

    /// The protocol; without it, [`Provider::of_model`] chooses.
    pub fn provider(mut self, provider: Provider) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Another server, by the address above `chat/completions`, `messages` or `models`: `http://localhost:11434/v1`.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// The key. Without one, it is read from [`Provider::key_variable`] for the provider's own endpoint; another endpoint
    /// gets only a key that was chosen for it.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Key::Given(key.into()));
        self
    }

    /// Reads the key from this environment variable.
    pub fn key_from(mut self, variable: impl Into<String>) -> Self {
        self.key = Some(Key::From(variable.into()));
        self
    }

    /// One more header, as gateways ask for them; its value is treated as a secret.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// In which dialect tools are handed over; a strict one holds the model to their schemas.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Whether replies come piece by piece; they do.
    pub fn streaming(mut self, streams: bool) -> Self {
        self.streams = streams;
        self
    }

    /// Whether the server holds a reply to the request's [`Constraint`](crate::agent::Constraint), by its JSON Schema; off,
    /// because hosted models take only a part of JSON Schema and refuse the rest.
    pub fn constrains(mut self, constrains: bool) -> Self {
        self.constrains = constrains;
        self
    }

    /// How long the server may be silent: five minutes. Without streaming it is silent until the whole reply is there.
    pub fn timeout(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// How often it is asked again when it is busy (status 429, 503 or 529): twice, after the wait that it asks for.
    ///
    /// A reply of which a piece was given out is never asked for again.
    pub fn retries(mut self, most: u32) -> Self {
        self.retries.most = most;
        self
    }

    /// The longest wait before it is asked again: a minute. A server that wants more is not waited for.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.retries.longest = wait;
        self
    }

    /// The most tokens of a reply, where the request does not say.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// How freely the model chooses its words, from 0; the provider has a default.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// The model.
    ///
    /// # Errors
    ///
    /// [`GenaiBuildError`] says what of this cannot be used. Nothing is sent here.
    pub fn build(self) -> Result<GenaiModel, GenaiBuildError> {
        if self.model.trim().is_empty() {
            return Err(GenaiBuildError::NoName);
        }
        let provider = self
            .provider
            .unwrap_or_else(|| Provider::of_model(&self.model));
        let dialect = self.dialect.unwrap_or_else(|| provider.dialect());
        if !provider.takes(dialect) {
            return Err(GenaiBuildError::Dialect { provider, dialect });
        }
        let mut secrets = Secrets::default();
        let key = self.read_key(provider)?;
        let headers = self.sent(provider, key.as_deref(), &mut secrets)?;
        let endpoint = match self.endpoint {
            Some(endpoint) => checked(endpoint, &mut secrets)?,
            None => provider.endpoint().to_owned(),
        };
        let client = reqwest::Client::builder()
            .default_headers(headers)
            // A key must not travel to wherever a server points.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(self.silence)
            .tcp_nodelay(true)
            .build()
            .map_err(|error| GenaiBuildError::Client {
                message: secrets.hide(&error.to_string()),
            })?;
        let client = Client::builder()
            .with_reqwest(client)
            .build()
            .map_err(|error| GenaiBuildError::Client {
                message: secrets.hide(&error.to_string()),
            })?;
        Ok(GenaiModel {
            client,
            settings: Settings {
                model: self.model,
                provider,
                endpoint,
                dialect,
                streams: self.streams,
                constrains: self.constrains,
                silence: self.silence,
                retries: self.retries,
                max_tokens: self.max_tokens,
                temperature: self.temperature,
                secrets,
            },
        })
    }

    fn read_key(&self, provider: Provider) -> Result<Option<String>, GenaiBuildError> {
        let variable = match &self.key {
            Some(Key::Given(key)) => return Ok(Some(key.trim().to_owned())),
            Some(Key::From(variable)) => variable.as_str(),
            None if self.endpoint.is_some() => return Ok(None),
            None => provider.key_variable(),
        };
        let key = std::env::var(variable).unwrap_or_default();
        if key.trim().is_empty() {
            return Err(GenaiBuildError::NoKey {
                variable: variable.to_owned(),
            });
        }
        Ok(Some(key.trim().to_owned()))
    }

    /// The headers of every request; the secret ones are shown by nobody who logs them.
    fn sent(
        &self,
        provider: Provider,
        key: Option<&str>,
        secrets: &mut Secrets,
    ) -> Result<HeaderMap, GenaiBuildError> {
        let mut headers = HeaderMap::new();
        for (name, value) in provider.headers() {
            headers.insert(*name, HeaderValue::from_static(value));
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
            given: shown(&endpoint),
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
            .field("model", &self.model)
            .field("provider", &self.provider)
            .field("endpoint", &self.endpoint.as_deref().map(shown))
            .finish_non_exhaustive()
    }
}
