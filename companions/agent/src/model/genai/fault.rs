//! Converts errors of genai and of providers to model errors.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

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
            | genai::Error::WebAdapterCall { webc_error, .. } => self.web(&webc_error),
            genai::Error::HttpError {
                status,
                body,
                headers,
                ..
            } => self.status(status, &body, &headers),
            genai::Error::WebStream { error, .. } => match error.downcast::<genai::Error>() {
                Ok(inner) => self.of(*inner),
                Err(error) => self.stream(&*error),
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
        ModelError::Provider {
            message: self.excerpt(&message(body).unwrap_or_else(|| body.to_string())),
            retry_after: None,
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

    fn web(self, error: &WebError) -> ModelError {
        match error {
            WebError::ResponseFailedStatus {
                status,
                body,
                headers,
            } => self.status(*status, body, headers),
            WebError::ResponseFailedNotJson { content_type, .. } => {
                self.unreadable(&format!("it is `{content_type}`, not JSON"))
            }
            WebError::ResponseFailedInvalidJson { cause, .. } => {
                self.unreadable(&format!("it is not JSON: {cause}"))
            }
            WebError::Reqwest(error) => self.transport(error),
            WebError::JsonValueExt(error) => self.unreadable(&error.to_string()),
        }
    }

    fn stream(self, error: &(dyn std::error::Error + Send + Sync + 'static)) -> ModelError {
        if error.is::<StreamTimeout>() {
            return self.timeout();
        }
        match error.downcast_ref::<reqwest::Error>() {
            Some(error) => self.transport(error),
            None => self.unreadable(&error.to_string()),
        }
    }

    fn transport(self, error: &reqwest::Error) -> ModelError {
        if error.is_timeout() {
            return self.timeout();
        }
        if error.is_body() || error.is_decode() {
            return ModelError::Cut;
        }
        // The address is known to whoever chose it, and may hold a secret: what lies below says what happened.
        let mut below = error.source();
        let mut message = String::new();
        while let Some(error) = below {
            let more = error.to_string();
            if !message.contains(&more) {
                if !message.is_empty() {
                    message.push_str(": ");
                }
                message.push_str(&more);
            }
            below = error.source();
        }
        if message.is_empty() {
            "the request could not be sent".clone_into(&mut message);
        }
        ModelError::Unreachable {
            message: self.excerpt(&message),
        }
    }

    fn status(self, status: StatusCode, body: &str, headers: &HeaderMap) -> ModelError {
        let parsed = serde_json::from_str::<Value>(body).ok();
        let said = parsed.as_ref().and_then(message);
        let said = said.unwrap_or_else(|| body.trim().to_owned());
        let said = if said.is_empty() {
            status.canonical_reason().unwrap_or("no reason").to_owned()
        } else {
            said
        };
        ModelError::Status {
            status: status.as_u16(),
            retry_after: retry_after(|name| headers.get(name)?.to_str().ok(), SystemTime::now()),
            tries: self.tries,
            message: self.excerpt(&said),
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
fn message(body: &Value) -> Option<String> {
    let places = [
        "/error/message",
        "/message",
        "/error",
        "/detail",
        "/0/error/message",
    ];
    let said = places
        .iter()
        .find_map(|place| body.pointer(place)?.as_str());
    said.or(body.as_str()).map(str::to_owned)
}
