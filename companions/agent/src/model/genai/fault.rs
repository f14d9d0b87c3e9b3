//! Converts errors of genai and of providers to model errors.

use std::error::Error as _;
use std::time::Duration;

use genai::webc::{Error as WebError, StreamTimeout};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::retries::retry_after;
use super::secrets::Secrets;
use crate::model::ModelError;

/// Tells what went wrong without telling a secret.
#[derive(Clone, Copy)]
pub(super) struct Faults<'s> {
    pub(super) secrets: &'s Secrets,
    pub(super) silence: Duration,
    pub(super) tries: u32,
}

/// The most characters that a provider may say about an error.
const SAID: usize = 1_000;

impl Faults<'_> {
    /// Not an arm for every error that genai knows: what cannot happen here is told in its own words.
    pub(super) fn of(self, error: genai::Error) -> ModelError {
        match error {
            genai::Error::WebModelCall { webc_error, .. }
            | genai::Error::WebAdapterCall { webc_error, .. } => match webc_error {
                WebError::ResponseFailedStatus {
                    status,
                    body,
                    headers,
                } => self.status(status, &body, &headers),
                WebError::ResponseFailedNotJson { content_type, .. } => {
                    self.unreadable(&format!("it is `{content_type}`, not JSON"))
                }
                WebError::ResponseFailedInvalidJson { cause, .. } => {
                    self.unreadable(&format!("it is not JSON: {cause}"))
                }
                WebError::Reqwest(error) => self.transport(&error),
                WebError::JsonValueExt(error) => self.unreadable(&error.to_string()),
            },
            genai::Error::HttpError {
                status,
                body,
                headers,
                ..
            } => self.status(status, &body, &headers),
            genai::Error::WebStream { error, .. } => match error.downcast::<genai::Error>() {
                Ok(inner) => self.of(*inner),
                Err(error) if error.is::<StreamTimeout>() => self.timeout(),
                Err(error) => match error.downcast_ref() {
                    Some(error) => self.transport(error),
                    None => self.unreadable(&error.to_string()),
                },
            },
            genai::Error::ChatResponse { body, .. } => self.provider(&body),
            genai::Error::StreamParse { serde_error, .. } => {
                self.unreadable(&format!("it is not JSON: {serde_error}"))
            }
            // Its own words repeat the whole conversation.
            genai::Error::ChatResponseGeneration { cause, .. } => self.unreadable(&cause),
            other => self.unreadable(&other.to_string()),
        }
    }

    /// The provider tells of an error inside of a reply.
    pub(super) fn provider(self, body: &Value) -> ModelError {
        let message = sentence(body).map_or_else(|| body.to_string(), str::to_owned);
        ModelError::Provider {
            message: self.excerpt(&message),
        }
    }

    pub(super) fn unreadable(self, message: &str) -> ModelError {
        ModelError::Unreadable {
            message: self.excerpt(message),
        }
    }

    /// The provider keeps a reply back, or ended it.
    pub(super) fn withheld(self, reason: &str, said: &str) -> ModelError {
        ModelError::Withheld {
            reason: self.excerpt(reason),
            said: self.excerpt(said.trim()),
        }
    }

    pub(super) const fn timeout(self) -> ModelError {
        ModelError::Timeout {
            after: self.silence,
        }
    }

    fn transport(self, error: &reqwest::Error) -> ModelError {
        if error.is_timeout() {
            return self.timeout();
        }
        if error.is_body() || error.is_decode() {
            return ModelError::Cut;
        }
        // Without the error itself, whose text has the address, which may hold a secret.
        let causes = std::iter::successors(error.source(), |error| (*error).source());
        let mut messages: Vec<String> = causes.map(ToString::to_string).collect();
        messages.dedup();
        ModelError::Unreachable {
            message: self.excerpt(&messages.join(": ")),
        }
    }

    fn status(self, status: StatusCode, body: &str, headers: &HeaderMap) -> ModelError {
        let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
        let said = match sentence(&parsed).unwrap_or_else(|| body.trim()) {
            "" => status.canonical_reason().unwrap_or("no reason"),
            said => said,
        };
        ModelError::Status {
            status: status.as_u16(),
            retry_after: retry_after(headers),
            tries: self.tries,
            message: self.excerpt(said),
        }
    }

    fn excerpt(self, text: &str) -> String {
        let text = self.secrets.hide(text);
        match text.char_indices().nth(SAID) {
            Some((end, _)) => format!("{} ..", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }
}

/// The sentence in an error of a provider.
fn sentence(body: &Value) -> Option<&str> {
    let places = [
        "/error/message",
        "/message",
        "/error",
        "/detail",
        "/0/error/message",
        "",
    ];
    places
        .iter()
        .find_map(|place| body.pointer(place)?.as_str())
}
