//! Validates an executor's upgrade request and checks its token.

use contract_http::OriginCheck;
use hyper::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, RETRY_AFTER, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
    WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode, Version};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::admission::Throttled;
use super::drain::RETRY_AFTER_SECONDS;
use super::state::Rejection;
use crate::protocol::TaskId;

/// Characters of a `Sec-WebSocket-Key`: 16 bytes in base64 (RFC 6455, 4.1, 2011).
const KEY: usize = 24;

/// Hashes a token; a backend stores nothing else of it.
pub(super) fn hash_token(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// A rejected request, and the response to it.
#[derive(Debug)]
pub(super) struct UpgradeError {
    pub(super) reason: Rejection,
    status: StatusCode,
    text: &'static str,
    header: Option<(HeaderName, HeaderValue)>,
}

impl UpgradeError {
    fn new(reason: Rejection, status: StatusCode, text: &'static str) -> Self {
        Self {
            reason,
            status,
            text,
            header: None,
        }
    }

    fn with(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Self {
        self.header = Some((name, value.into()));
        self
    }

    fn malformed(text: &'static str) -> Self {
        Self::new(Rejection::Malformed, StatusCode::BAD_REQUEST, text)
    }

    pub(super) fn store_unavailable() -> Self {
        let text = "the store of this backend cannot be reached";
        Self::new(Rejection::Store, StatusCode::SERVICE_UNAVAILABLE, text)
            .with(RETRY_AFTER, RETRY_AFTER_SECONDS)
    }

    pub(super) fn shutting_down() -> Self {
        let text = "the backend is shutting down";
        Self::new(
            Rejection::ShuttingDown,
            StatusCode::SERVICE_UNAVAILABLE,
            text,
        )
        .with(RETRY_AFTER, RETRY_AFTER_SECONDS)
    }

    /// A plaintext connection where TLS is required.
    pub(super) fn tls_required() -> Self {
        // RFC 2817, 4.2, 2000.
        let (status, text) = (
            StatusCode::UPGRADE_REQUIRED,
            "the address must begin with `wss://`",
        );
        Self::new(Rejection::Tls, status, text).with(UPGRADE, HeaderValue::from_static("TLS/1.2"))
    }

    pub(super) fn upgrade_failed() -> Self {
        Self::malformed("the connection cannot become a WebSocket")
    }

    /// Only for requests with the right token: it reveals that the task exists.
    pub(super) fn task_not_open() -> Self {
        let text = "the task is not open here, or not again yet";
        Self::new(Rejection::Closed, StatusCode::SERVICE_UNAVAILABLE, text).with(RETRY_AFTER, 1_u64)
    }

    /// Only for requests with the right token, as [`task_not_open`](Self::task_not_open).
    #[cfg(feature = "redis")]
    pub(super) fn home_unreachable(retry_after: Option<u64>) -> Self {
        let text = "the backend that has this task cannot be reached";
        Self::new(Rejection::Closed, StatusCode::SERVICE_UNAVAILABLE, text)
            .with(RETRY_AFTER, retry_after.unwrap_or(1))
    }

    /// Does not reveal whether the task exists.
    pub(super) fn invalid_token() -> Self {
        let text = "the header `Authorization: Bearer ..` does not name the token of this task";
        Self::new(Rejection::Token, StatusCode::UNAUTHORIZED, text)
            .with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    pub(super) fn into_response(self) -> Response<String> {
        let mut response = Response::new(format!("{}\n", self.text));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(CONTENT_TYPE, plain);
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.extend(self.header);
        response
    }
}

impl From<Throttled> for UpgradeError {
    fn from(too_many: Throttled) -> Self {
        let text = match too_many.reason {
            Rejection::Rate => {
                "too many executors connect at once; `Retry-After` says when to try again"
            }
            _ => "there are too many connections; `Retry-After` says when to try again",
        };
        Self::new(too_many.reason, StatusCode::SERVICE_UNAVAILABLE, text)
            .with(RETRY_AFTER, too_many.retry_after)
    }
}

/// Validates the upgrade request of an executor; returns the id of its task.
///
/// Nothing here depends on the host: a web page that rebinds its DNS name to this machine still cannot send the token.
pub(super) fn validate_request<B>(
    request: &Request<B>,
    origins: &OriginCheck,
) -> Result<TaskId, UpgradeError> {
    if request.version() != Version::HTTP_11 {
        let status = StatusCode::HTTP_VERSION_NOT_SUPPORTED;
        return Err(UpgradeError::new(
            Rejection::Malformed,
            status,
            "only HTTP/1.1 is supported",
        ));
    }
    if request.method() != Method::GET {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        return Err(UpgradeError::new(
            Rejection::Malformed,
            status,
            "an executor connects with GET",
        )
        .with(ALLOW, HeaderValue::from_static("GET")));
    }
    let (uri, headers) = (request.uri(), request.headers());
    if uri.authority().is_some() {
        return Err(UpgradeError::malformed(
            "the target of the request must be a path",
        ));
    }
    if uri.query().is_some() {
        return Err(UpgradeError::malformed(
            "the address must not have a query; give the token in the header `Authorization`",
        ));
    }
    let Some(id) = uri.path().strip_prefix("/executor/") else {
        let (status, text) = (
            StatusCode::NOT_FOUND,
            "executors connect to `/executor/TASK`",
        );
        return Err(UpgradeError::new(Rejection::Malformed, status, text));
    };
    if origins.check_origins(headers).is_err() {
        let text = "this Origin is not allowed; the backend may allow it";
        return Err(UpgradeError::new(
            Rejection::Origin,
            StatusCode::FORBIDDEN,
            text,
        ));
    }
    let length = headers.get(CONTENT_LENGTH);
    if headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != "0") {
        return Err(UpgradeError::malformed("the request must not have a body"));
    }
    check_upgrade_headers(headers)?;
    // One spelling for one task, so that a proxy sees the same path as the backend.
    let task = id.parse::<TaskId>().ok();
    task.filter(|task| task.to_string() == id)
        .ok_or_else(UpgradeError::invalid_token)
}

/// RFC 6455, 4.2.1, 2011.
fn check_upgrade_headers(headers: &HeaderMap) -> Result<(), UpgradeError> {
    let names = |header: &HeaderName, word: &str| {
        let values = headers.get_all(header).iter();
        let mut words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        words.any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    };
    let wanted = StatusCode::UPGRADE_REQUIRED;
    if !names(&CONNECTION, "upgrade") || !names(&UPGRADE, "websocket") {
        let text = "this is a WebSocket endpoint; the request does not ask for an upgrade";
        return Err(UpgradeError::new(Rejection::Malformed, wanted, text)
            .with(UPGRADE, HeaderValue::from_static("websocket")));
    }
    let only = |header: &HeaderName| {
        let mut values = headers.get_all(header).iter();
        values.next().filter(|_| values.next().is_none())
    };
    if only(&SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let text = "only version 13 of WebSocket is supported";
        return Err(UpgradeError::new(Rejection::Malformed, wanted, text)
            .with(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")));
    }
    if only(&SEC_WEBSOCKET_KEY).is_none_or(|key| key.len() != KEY) {
        return Err(UpgradeError::malformed(
            "`Sec-WebSocket-Key` is not 16 bytes",
        ));
    }
    Ok(())
}

/// Checks the token of a request against a hash, in the same time for a task that does not exist.
pub(super) fn check_token(
    headers: &HeaderMap,
    hashed: Option<[u8; 32]>,
) -> Result<(), UpgradeError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(values), None) = (values.next(), values.next()) else {
        return Err(UpgradeError::invalid_token());
    };
    // The scheme is a word without case (RFC 9110, 11.1, 2022).
    let token = values
        .as_bytes()
        .split_at_checked("Bearer ".len())
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "))
        .map(|(_, token)| hash_token(token));
    let right = token
        .unwrap_or_default()
        .ct_eq(&hashed.unwrap_or([0xff; 32]));
    let there = token.is_some() & hashed.is_some();
    if there && bool::from(right) {
        Ok(())
    } else {
        Err(UpgradeError::invalid_token())
    }
}
