//! Lets pages of allowed origins read responses (Fetch Standard, "CORS protocol").

use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

use super::service::HttpResponse;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// What a page needs of a response besides its body.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after");
/// How long a browser may keep the answer to a preflight, in seconds.
const AGE: HeaderValue = HeaderValue::from_static("600");

/// Answers a preflight of an origin that has been checked; `None` for any other request.
///
/// A page of that origin may send any header: it is trusted, and there are no cookies that it could abuse.
pub(super) fn preflight(request: &Parts) -> Option<HttpResponse> {
    let asks = request.method == Method::OPTIONS
        && request.headers.contains_key(ORIGIN)
        && request.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if !asks {
        return None;
    }
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::new())));
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, AGE);
    if let Some(wanted) = request.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        headers.append(
            VARY,
            HeaderValue::from_static("access-control-request-headers"),
        );
    }
    Some(answer)
}

/// Lets the pages of an origin that has been checked read the answer.
pub(super) fn allow(origin: Option<HeaderValue>, headers: &mut HeaderMap) {
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
}
