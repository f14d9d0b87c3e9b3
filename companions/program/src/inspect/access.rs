//! Who may ask: a browser that was given the token, about this address, from this page.
//!
//! A page of somebody else can make a browser send requests to a port of this machine, and a name of theirs can be made to
//! point here (DNS rebinding). Neither knows the token; `Host` and `Origin` are judged as well, so that a token that got out
//! is of no use to them. RFC 6454, "The Web Origin Concept"; W3C, "Content Security Policy Level 3".

use std::net::SocketAddr;

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};

/// What a request must show.
pub(super) struct Guard {
    token: String,
    hosts: [String; 2],
}

/// Why a request is refused; nothing of it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Host,
    Origin,
    Token,
}

impl Guard {
    /// A guard of this address, with a token of 128 bits.
    ///
    /// # Errors
    ///
    /// The operating system has no random numbers.
    pub(super) fn new(address: SocketAddr) -> std::io::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
        let port = address.port();
        Ok(Self {
            token: format!("{:032x}", u128::from_be_bytes(bytes)),
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Whether to answer.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_here = |host: &str| self.hosts.iter().any(|own| own == host);
        let mut hosts = headers.get_all(header::HOST).iter();
        match (hosts.next().map(HeaderValue::to_str), hosts.next()) {
            (Some(Ok(host)), None) if is_here(host) => {}
            _ => return Err(Refusal::Host),
        }
        for origin in headers.get_all(header::ORIGIN) {
            let host = origin
                .to_str()
                .ok()
                .and_then(|it| it.strip_prefix("http://"));
            if !host.is_some_and(is_here) {
                return Err(Refusal::Origin);
            }
        }
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
            Some(token) if self.is_token(token) => Ok(()),
            _ => Err(Refusal::Token),
        }
    }

    /// In a time that does not tell how much of it was right.
    fn is_token(&self, given: &str) -> bool {
        let (own, given) = (self.token.as_bytes(), given.as_bytes());
        let differ = own.iter().zip(given).fold(0, |all, (a, b)| all | (a ^ b));
        own.len() == given.len() && std::hint::black_box(differ) == 0
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "this page is served at the address that was printed, under no other name\n",
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

/// Says of an answer that it is for this page alone, and kept by nobody.
pub(super) fn close(response: &mut Response) {
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
