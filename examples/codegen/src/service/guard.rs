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
use subtle::ConstantTimeEq as _;

use crate::contract::Problem;

/// The token that clients of the service show.
#[derive(Clone)]
pub struct ServiceToken(String);

/// The number of characters below which a token can be guessed.
const SHORTEST: usize = 16;

impl ServiceToken {
    /// Draws a token of 128 random bits.
    ///
    /// # Errors
    ///
    /// The operating system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        hexadecimal().map(Self)
    }

    /// Checks a token that was chosen elsewhere.
    ///
    /// # Errors
    ///
    /// What is wrong with it, without repeating it.
    pub fn chosen(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // They mean nothing in an address (RFC 3986, 2.3, "Unreserved Characters", 2005).
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if text.len() < SHORTEST || !text.bytes().all(is_plain) {
            return Err(format!(
                "the token of the service needs {SHORTEST} or more letters, digits, `-`, `.`, `_` or `~`"
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the token as text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ServiceToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServiceToken(..)")
    }
}

/// Returns 128 random bits.
pub(super) fn hexadecimal() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// The checks of a request.
#[derive(Debug)]
pub(super) struct Guard {
    token: ServiceToken,
    origin_check: OriginCheck,
}

impl Guard {
    /// Creates the guard of this address, and of further names by which it is reached.
    pub(super) fn new(address: SocketAddr, names: &[String], token: ServiceToken) -> Self {
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
        if shown.as_bytes().ct_eq(self.token.0.as_bytes()).into() {
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
