//! Error responses.

use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::runs::Refused;

/// Why a request is refused: `{"error": {"code", "message"}}`, where the message says what to do. Nothing of the request is
/// repeated but names that it was asked for by.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
        }
    }

    pub(super) fn unknown() -> Self {
        Refused::Unknown.into()
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let (status, code) = match &refused {
            Refused::Empty => (StatusCode::BAD_REQUEST, "empty_message"),
            Refused::Long { .. } => (StatusCode::BAD_REQUEST, "long_message"),
            Refused::Unknown => (StatusCode::NOT_FOUND, "unknown_session"),
            Refused::NotWaiting { .. } | Refused::Step(_) => (StatusCode::CONFLICT, "not_waiting"),
            Refused::NotAsked => (StatusCode::CONFLICT, "not_asked"),
            Refused::Elsewhere { .. } => (StatusCode::CONFLICT, "elsewhere"),
            Refused::NoExecutor { .. } => (StatusCode::CONFLICT, "no_executor"),
            Refused::Answers(_) => (StatusCode::BAD_REQUEST, "wrong_answers"),
            Refused::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            Refused::Closing => (StatusCode::SERVICE_UNAVAILABLE, "closing"),
            Refused::Store(_) => (StatusCode::SERVICE_UNAVAILABLE, "store"),
        };
        Self::new(status, code, refused.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({"error": {"code": self.code, "message": self.message}});
        let mut response = (self.status, body.to_string()).into_response();
        let further: Option<(HeaderName, &str)> = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, "5")),
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            _ => None,
        };
        let kind = (CONTENT_TYPE, "application/json");
        for (name, value) in [Some(kind), further].into_iter().flatten() {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }
}
