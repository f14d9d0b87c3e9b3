//! Authorises requests: the token, and the `Host` and `Origin` headers.
//!
//! Other web pages do not know the token. `Host` and `Origin` are checked as well, so that a token that got out is of
//! no use to such a page.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Uri;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use contract_http::{OriginCheck, OriginError};
use contract_remote::Token;
use subtle::ConstantTimeEq as _;

use crate::contract::Problem;

/// The checks of a request.
pub(super) struct Guard {
    token: Token,
    origin_check: OriginCheck,
}

impl Guard {
    /// Creates the guard of this address, and of further names by which it is reached.
    pub(super) fn new(address: SocketAddr, names: &[String], token: Token) -> Self {
        let own = [address.to_string(), format!("localhost:{}", address.port())];
        let mut origin_check = OriginCheck::new();
        for host in own.iter().chain(names) {
            // A proxy in front may speak TLS.
            origin_check = origin_check
                .allow_host(host)
                .allow_origin(format!("http://{host}"))
                .allow_origin(format!("https://{host}"));
        }
        Self {
            token,
            origin_check,
        }
    }

    fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        self.origin_check.check(uri, headers).map_err(|error| match error {
            OriginError::OriginNotAllowed => {
                Problem::new(403, "wrong_origin", "requests from other pages are not answered")
            }
            _ => Problem::new(
                421,
                "wrong_host",
                "the service answers only at the address that was printed; start it with `--host NAME` to add one",
            ),
        })?;
        let carried = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token);
        // A browser that opens the page has no other way; addresses of requests are written into logs.
        let in_query = uri.query().filter(|_| uri.path() == "/").and_then(|query| {
            let mut parts = query.split('&');
            parts.find_map(|part| part.strip_prefix("token="))
        });
        let shown = carried.or(in_query).unwrap_or_default();
        if shown
            .as_bytes()
            .ct_eq(self.token.reveal().as_bytes())
            .into()
        {
            return Ok(());
        }
        Err(Problem::new(
            401,
            "wrong_token",
            "the token is missing or wrong; send `Authorization: Bearer TOKEN`, or open the whole address that was printed",
        ))
    }
}

/// Answers only requests that are admitted, and keeps every response to this page alone and out of caches.
pub(super) async fn guarded(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.admit(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
    response
}
