//! Checks the `Host` and the `Origin` of a request, for a server and for the other routes of its listener.

use contract_runtime::__family;
use hyper::Uri;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;

/// Checks the `Host` and the `Origin` of requests as a [`Server`](crate::Server) does, for other routes of the same program.
///
/// Any web page can make a browser send requests to any address, and its author can let a host name resolve to this machine (DNS
/// rebinding). A browser reports both truthfully in these headers, and a page cannot change them.
///
/// ```
/// use axum::http::{HeaderMap, HeaderValue, Uri, header};
/// use contract_mcp::{OriginCheck, OriginError};
///
/// let check = OriginCheck::loopback().allow_host("tools.example.com");
/// let target = Uri::from_static("/report");
/// let mut headers = HeaderMap::new();
/// headers.insert(header::HOST, HeaderValue::from_static("localhost:8080"));
/// assert!(check.check(&target, &headers).is_ok());
///
/// headers.insert(header::ORIGIN, HeaderValue::from_static("http://evil.example"));
/// assert_eq!(check.check(&target, &headers), Err(OriginError::OriginNotAllowed));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "it checks nothing until `check`"]
pub struct OriginCheck(__family::OriginCheck);

pub use __family::OriginError;

impl OriginCheck {
    /// Creates a check that allows no host and no origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a check that allows `localhost` and every loopback address, with any port.
    pub fn loopback() -> Self {
        Self(__family::OriginCheck::loopback())
    }

    /// Allows a host name or an address, with any port or with the one given.
    pub fn allow_host(self, host: impl AsRef<str>) -> Self {
        Self(self.0.allow_host(host.as_ref()))
    }

    /// Allows the pages of an origin, such as `https://app.example.com`, in addition to those that the `Host` itself serves
    /// over `http`. `null` is never allowed, because it stands for any page.
    pub fn allow_origin(self, origin: impl AsRef<str>) -> Self {
        Self(self.0.allow_origin(origin.as_ref()))
    }

    /// Checks a request by its target and its headers.
    ///
    /// # Errors
    ///
    /// [`OriginError::InvalidHost`], which is best answered with 400, and the others with 403.
    pub fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), OriginError> {
        let values = |name: HeaderName| headers.get_all(name).iter().map(HeaderValue::as_bytes);
        let host = target.authority().map(Authority::as_str);
        self.0.check(values(HOST), host, values(ORIGIN))
    }

    /// Checks the `Host` alone, of a request that pages of any origin may make.
    pub(super) fn check_host(&self, target: &Uri, headers: &HeaderMap) -> Result<(), OriginError> {
        let mut only = HeaderMap::new();
        for value in headers.get_all(HOST) {
            only.append(HOST, value.clone());
        }
        self.check(target, &only)
    }
}
