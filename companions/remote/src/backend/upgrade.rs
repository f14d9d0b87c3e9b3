use hyper::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, RETRY_AFTER, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING,
    UPGRADE, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode, Version};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::crowd::TooMany;
use super::doors::COME_BACK;
use super::state::Why;
use crate::remote::protocol::TaskId;

/// Characters of a `Sec-WebSocket-Key`: 16 bytes in base64 (RFC 6455, 4.1, 2011).
const KEY: usize = 24;

/// What a backend keeps of a token: enough to know it again, nothing to show.
pub(super) fn hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Somebody who is not let in: what is answered.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) why: Why,
    status: StatusCode,
    text: &'static str,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Refused {
    fn new(why: Why, status: StatusCode, text: &'static str) -> Self {
        Self {
            why,
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
        Self::new(Why::Malformed, StatusCode::BAD_REQUEST, text)
    }

    pub(super) fn no_store() -> Self {
        let text = "what this backend needs to know is out of reach";
        Self::new(Why::Store, StatusCode::SERVICE_UNAVAILABLE, text).with(RETRY_AFTER, COME_BACK)
    }

    pub(super) fn shutting_down() -> Self {
        let text = "the backend is shutting down";
        Self::new(Why::ShuttingDown, StatusCode::SERVICE_UNAVAILABLE, text)
            .with(RETRY_AFTER, COME_BACK)
    }

    /// It spoke without TLS where there must be some.
    pub(super) fn bare() -> Self {
        // RFC 2817, 4.2, 2000.
        let (status, text) = (
            StatusCode::UPGRADE_REQUIRED,
            "the address begins with `wss://`",
        );
        Self::new(Why::Tls, status, text).with(UPGRADE, HeaderValue::from_static("TLS/1.2"))
    }

    pub(super) fn no_upgrade() -> Self {
        Self::malformed("the connection cannot become a WebSocket")
    }

    /// For those who have shown the token: there is such a task.
    pub(super) fn closed() -> Self {
        let text = "the task is not open here, or not again yet";
        Self::new(Why::Closed, StatusCode::SERVICE_UNAVAILABLE, text).with(RETRY_AFTER, 1_u64)
    }

    /// Says nothing of the task: another token may be wrong for one that is there.
    pub(super) fn token() -> Self {
        let text = "the header `Authorization: Bearer ..` does not name the token of this task";
        Self::new(Why::Token, StatusCode::UNAUTHORIZED, text)
            .with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    pub(super) fn answer(self) -> Response<String> {
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

impl From<TooMany> for Refused {
    fn from(too_many: TooMany) -> Self {
        let text = match too_many.why {
            Why::Rate => "too many executors come at once; `Retry-After` says when there is room",
            _ => "there are too many connections; `Retry-After` says when to try again",
        };
        Self::new(too_many.why, StatusCode::SERVICE_UNAVAILABLE, text)
            .with(RETRY_AFTER, too_many.seconds)
    }
}

/// The task that a request is for, when it is one that only an executor sends.
///
/// Nothing here depends on the host: a page that has the name of this machine lied about still cannot send the token.
pub(super) fn executor<B>(request: &Request<B>, origins: &[String]) -> Result<TaskId, Refused> {
    if request.version() != Version::HTTP_11 {
        let status = StatusCode::HTTP_VERSION_NOT_SUPPORTED;
        return Err(Refused::new(
            Why::Malformed,
            status,
            "only HTTP/1.1 is spoken here",
        ));
    }
    if request.method() != Method::GET {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        return Err(
            Refused::new(Why::Malformed, status, "an executor asks with GET")
                .with(ALLOW, HeaderValue::from_static("GET")),
        );
    }
    let (uri, headers) = (request.uri(), request.headers());
    if uri.authority().is_some() {
        return Err(Refused::malformed("the target of the request is a path"));
    }
    if uri.query().is_some() {
        return Err(Refused::malformed(
            "the address takes no query; a token goes into the header `Authorization`",
        ));
    }
    let Some(id) = uri.path().strip_prefix("/executor/") else {
        let (status, text) = (StatusCode::NOT_FOUND, "executors ask for `/executor/TASK`");
        return Err(Refused::new(Why::Malformed, status, text));
    };
    for origin in headers.get_all(ORIGIN) {
        let known = |known: &String| origin.as_bytes().eq_ignore_ascii_case(known.as_bytes());
        if !origins.iter().any(known) {
            let text = "this Origin is not let in; the backend may allow it";
            return Err(Refused::new(Why::Origin, StatusCode::FORBIDDEN, text));
        }
    }
    let length = headers.get(CONTENT_LENGTH);
    if headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != "0") {
        return Err(Refused::malformed("the request takes no body"));
    }
    upgrade(headers)?;
    // One spelling for one task, so that what watches the way sees the same as what stands at its end.
    let task = id.parse::<TaskId>().ok();
    task.filter(|task| task.to_string() == id)
        .ok_or_else(Refused::token)
}

/// RFC 6455, 4.2.1, 2011.
fn upgrade(headers: &HeaderMap) -> Result<(), Refused> {
    let names = |header: &HeaderName, word: &str| {
        let values = headers.get_all(header).iter();
        let mut words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        words.any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    };
    let wanted = StatusCode::UPGRADE_REQUIRED;
    if !names(&CONNECTION, "upgrade") || !names(&UPGRADE, "websocket") {
        let text = "this is a WebSocket; the request asks for no upgrade to one";
        return Err(Refused::new(Why::Malformed, wanted, text)
            .with(UPGRADE, HeaderValue::from_static("websocket")));
    }
    let only = |header: &HeaderName| {
        let mut values = headers.get_all(header).iter();
        values.next().filter(|_| values.next().is_none())
    };
    if only(&SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let text = "this WebSocket is of version 13";
        return Err(Refused::new(Why::Malformed, wanted, text)
            .with(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")));
    }
    if only(&SEC_WEBSOCKET_KEY).is_none_or(|key| key.len() != KEY) {
        return Err(Refused::malformed("`Sec-WebSocket-Key` is not 16 bytes"));
    }
    Ok(())
}

/// Whether the request shows the token with this hash; it takes as long for a task that is not there.
pub(super) fn token(headers: &HeaderMap, hashed: Option<[u8; 32]>) -> Result<(), Refused> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let (Some(shown), None) = (shown.next(), shown.next()) else {
        return Err(Refused::token());
    };
    // The scheme is a word without case (RFC 9110, 11.1, 2022).
    let token = shown
        .as_bytes()
        .split_at_checked("Bearer ".len())
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "))
        .map(|(_, token)| hash(token));
    let right = token
        .unwrap_or_default()
        .ct_eq(&hashed.unwrap_or([0xff; 32]));
    let there = token.is_some() & hashed.is_some();
    if there && bool::from(right) {
        Ok(())
    } else {
        Err(Refused::token())
    }
}
