//! Authorises requests: the token, and the `Host` and `Origin` headers.
//!
//! Other web pages do not know the token. `Host` and `Origin` are checked as well, so that a token that got out is of
//! no use to such a page. W3C, "Content Security Policy Level 3".

use std::net::SocketAddr;

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use contract_http::{OriginCheck, OriginError};
use subtle::ConstantTimeEq as _;

use super::problem::Problem;

/// What clients show to be answered.
#[derive(Clone)]
pub struct ServiceToken(String);

/// Shorter ones can be guessed.
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
        if text.len() < SHORTEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "the token of the service needs {SHORTEST} or more visible ASCII characters"
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the token as the query of an address contains it, percent-encoded (RFC 3986, section 2.1).
    #[must_use]
    pub fn in_query(&self) -> String {
        let encoded = self.0.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() || "-._~".contains(letter) => {
                letter.to_string()
            }
            letter => format!("%{:02X}", u32::from(letter)),
        });
        encoded.collect()
    }
}

impl std::fmt::Debug for ServiceToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServiceToken(..)")
    }
}

/// 128 random bits.
pub(super) fn hexadecimal() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// What a request must show.
#[derive(Debug)]
pub(super) struct Guard {
    token: ServiceToken,
    origin_check: OriginCheck,
}

impl Guard {
    /// A guard of this address, and of further names by which it is reached.
    pub(super) fn new(address: SocketAddr, names: &[String], token: ServiceToken) -> Self {
        let port = address.port();
        let own = [address.to_string(), format!("localhost:{port}")];
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

    /// Whether to answer.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        self.origin_check.check(uri, headers).map_err(|error| match error {
            OriginError::OriginNotAllowed => Problem::new(
                StatusCode::FORBIDDEN,
                "wrong_origin",
                "requests from other pages are not answered",
            ),
            _ => Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
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
        let asked = uri.query().filter(|_| uri.path() == "/").and_then(|query| {
            let mut parts = query.split('&');
            parts.find_map(|part| part.strip_prefix("token="))
        });
        let is_equal = |given: &str, own: &str| bool::from(given.as_bytes().ct_eq(own.as_bytes()));
        let own = &self.token;
        let admitted = match (carried, asked) {
            (Some(token), _) => is_equal(token, &own.0),
            (None, Some(token)) => is_equal(token, &own.in_query()) || is_equal(token, &own.0),
            (None, None) => false,
        };
        if admitted {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "wrong_token",
            "the token is missing or wrong; send `Authorization: Bearer TOKEN`, or open the whole address that was printed",
        ))
    }
}

/// Adds the headers that keep a response to this page alone, and out of every cache.
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
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    let none = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    let headers = response.headers_mut();
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(none);
}
