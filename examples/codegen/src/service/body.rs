//! Reads bodies of requests, and writes problems as responses.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest as _, Request};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::timeout;

use crate::contract::Problem;

/// How slowly a body may arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns a value as a response.
pub(super) fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Reads a body, in the form that `contracts/` has under this name.
pub(super) async fn read<T: DeserializeOwned>(request: Request, form: &str) -> Result<T, Problem> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = "send `Content-Type: application/json`";
        return Err(Problem::new(415, "not_json", message));
    }
    let body = timeout(PATIENCE, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| {
        let message = "the body did not arrive in 10 s; send it at once";
        Problem::new(408, "slow_body", message)
    })?;
    let body = body.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let message =
                "the body has more than 256 KiB; put long texts into files of the project";
            Problem::new(413, "large_body", message)
        }
        _ => Problem::new(400, "broken_body", "the body broke off; send it again"),
    })?;
    // The message of the error is left out, because it may repeat what was sent. An array would be read as the fields in order.
    let read = serde_json::from_slice(&body).ok();
    let read = read.filter(|_| body.trim_ascii_start().starts_with(b"{"));
    read.ok_or_else(|| {
        let message = format!("the body is not a JSON object of the form in contracts/{form}.json");
        Problem::new(400, "not_json", message)
    })
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({"error": {"code": self.code, "message": self.message}});
        let status = StatusCode::from_u16(self.status);
        let mut response = json(&body);
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let further = match self.status {
            401 => (WWW_AUTHENTICATE, "Bearer"),
            503 => (RETRY_AFTER, "5"),
            _ => return response,
        };
        let (name, value) = (further.0, HeaderValue::from_static(further.1));
        response.headers_mut().insert(name, value);
        response
    }
}
