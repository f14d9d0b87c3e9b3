//! Authorises requests: the token, the `Host` and the `Origin`; and the security headers of responses.
//!
//! Other web pages do not know the token. `Host` and `Origin` are checked as well, so that even a leaked token is of no use to
//! them. W3C, "Content Security Policy Level 3".

use std::net::SocketAddr;

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use contract_http::{OriginCheck, OriginError};
use subtle::ConstantTimeEq as _;

/// What a request must have to be answered.
pub(super) struct AccessCheck {
    token: String,
    origin_check: OriginCheck,
}

/// Why a request is refused, without any part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Host,
    Origin,
    Token,
}

impl AccessCheck {
    /// Creates the check of this address, with a token of 128 bits.
    ///
    /// # Errors
    ///
    /// The operating system provides no random numbers.
    pub(super) fn new(address: SocketAddr) -> std::io::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
        let mut origin_check = OriginCheck::new();
        for host in ["127.0.0.1", "localhost"] {
            let host = format!("{host}:{}", address.port());
            origin_check = origin_check
                .allow_origin(format!("http://{host}"))
                .allow_host(host);
        }
        Ok(Self {
            token: format!("{:032x}", u128::from_be_bytes(bytes)),
            origin_check,
        })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Checks a request.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        self.origin_check
            .check(uri, headers)
            .map_err(|error| match error {
                OriginError::OriginNotAllowed => Refusal::Origin,
                _ => Refusal::Host,
            })?;
        let carried = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token);
        let asked = uri.query().and_then(|query| {
            let mut parts = query.split('&');
            parts.find_map(|part| part.strip_prefix("token="))
        });
        match carried.or(asked) {
            Some(token) if bool::from(token.as_bytes().ct_eq(self.token.as_bytes())) => Ok(()),
            _ => Err(Refusal::Token),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "this page is served only at the address that was printed\n",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "requests from other pages are not answered\n",
            ),
            Self::Token => (
                StatusCode::FORBIDDEN,
                "the token is missing or wrong; open the whole address that was printed\n",
            ),
        };
        (status, why).into_response()
    }
}

/// Adds the headers that keep a response to this page alone, and out of every cache.
pub(super) fn add_security_headers(response: &mut Response) {
    const ALWAYS: [(HeaderName, &str); 5] = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in ALWAYS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    let none = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    response
        .headers_mut()
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(none);
}
