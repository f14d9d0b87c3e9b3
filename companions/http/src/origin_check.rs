//! Checks the `Host` and the `Origin` of an HTTP request: the defence of a local server against web pages.
//!
//! Any web page can make a browser send requests to any address, and its author can let a host name resolve to this machine (DNS
//! rebinding). A browser reports both truthfully in these headers, and a page cannot change them (RFC 9110, section 7.2; RFC
//! 6454, "The Web Origin Concept", section 7).

use std::net::IpAddr;

use hyper::Uri;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::uri::Authority as TargetAuthority;

/// Decides which requests may be answered, by the host that they name and the page that sent them.
///
/// Any web page can make a browser send requests to any address, and its author can let a host name resolve to this machine (DNS
/// rebinding). A browser reports both truthfully in these headers, and a page cannot change them.
///
/// ```
/// use contract_http::{OriginCheck, OriginError};
/// use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
///
/// let check = OriginCheck::loopback().allow_host("tools.example.com");
/// let target = hyper::Uri::from_static("/report");
/// let mut headers = HeaderMap::new();
/// headers.insert(HOST, HeaderValue::from_static("localhost:8080"));
/// assert!(check.check(&target, &headers).is_ok());
///
/// headers.insert(ORIGIN, HeaderValue::from_static("http://evil.example"));
/// assert_eq!(check.check(&target, &headers), Err(OriginError::OriginNotAllowed));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "it checks nothing until `check`"]
pub struct OriginCheck {
    loopback: bool,
    hosts: Vec<Authority>,
    origins: Vec<Origin>,
}

/// Why a request must not be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OriginError {
    /// The request has no `Host`, more than one, or one that is empty or not visible ASCII.
    #[error("the request needs one valid Host")]
    InvalidHost,
    /// The `Host`, or the host in the request's target, is not allowed.
    #[error("this Host is not allowed; the program that serves it may allow it")]
    HostNotAllowed,
    /// The `Origin` is neither that of the `Host` nor allowed.
    #[error("this Origin is not allowed; the program that serves it may allow it")]
    OriginNotAllowed,
}

impl OriginCheck {
    /// Creates a check that allows no host and no origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a check that allows `localhost` and every loopback address, with any port.
    pub fn loopback() -> Self {
        Self {
            loopback: true,
            ..Self::default()
        }
    }

    /// Allows a host name or an address, with any port or with the one given.
    pub fn allow_host(mut self, host: impl AsRef<str>) -> Self {
        let host = host.as_ref();
        // An IPv6 address needs no brackets where no port can follow.
        let bare = host.parse().ok().map(|ip| Authority {
            host: Host::Ip(ip),
            port: None,
        });
        self.hosts.extend(bare.or_else(|| Authority::parse(host)));
        self
    }

    /// Allows the pages of an origin, such as `https://app.example.com`, in addition to those that the `Host` itself serves
    /// over `http`. `null` is never allowed, because it stands for any page.
    pub fn allow_origin(mut self, origin: impl AsRef<str>) -> Self {
        self.origins
            .extend(Origin::parse(origin.as_ref().trim_end_matches('/')));
        self
    }

    /// Checks a request by its target and its headers.
    ///
    /// A request without an `Origin` passes: browsers send one with every request of another origin that could change anything.
    ///
    /// # Errors
    ///
    /// [`OriginError::InvalidHost`], which is best answered with 400, and the others with 403.
    pub fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), OriginError> {
        self.check_values(values(headers, HOST), host(target), values(headers, ORIGIN))
    }

    /// Checks the `Host` alone, of a request that pages of any origin may make.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), but for [`OriginError::OriginNotAllowed`].
    pub fn check_host(&self, target: &Uri, headers: &HeaderMap) -> Result<(), OriginError> {
        self.check_values(values(headers, HOST), host(target), [])
    }

    /// Checks only that every `Origin` is one that was allowed, whatever the `Host`.
    ///
    /// # Errors
    ///
    /// [`OriginError::OriginNotAllowed`].
    pub fn check_origins(&self, headers: &HeaderMap) -> Result<(), OriginError> {
        Self::check_each(values(headers, ORIGIN), |origin| {
            self.origins.contains(origin)
        })
    }

    fn check_values<'r>(
        &self,
        hosts: impl IntoIterator<Item = &'r [u8]>,
        target: Option<&str>,
        origins: impl IntoIterator<Item = &'r [u8]>,
    ) -> Result<(), OriginError> {
        let mut hosts = hosts.into_iter();
        let host = match (hosts.next(), hosts.next(), target) {
            (Some(host), None, _) => visible(host),
            // In HTTP/2 the target takes the place of the header (RFC 9113, section 8.3.1).
            (None, None, Some(target)) => visible(target.as_bytes()),
            _ => None,
        };
        let host = host.ok_or(OriginError::InvalidHost)?;
        // Where the target names a host, a proxy goes by that one (RFC 9112, section 3.2.2).
        let host = self.allowed_host(host)?;
        if let Some(target) = target {
            self.allowed_host(target)?;
        }
        Self::check_each(origins, |origin| {
            self.origins.contains(origin) || origin.is_of_http_host(&host)
        })
    }

    fn check_each<'r>(
        origins: impl IntoIterator<Item = &'r [u8]>,
        is_allowed: impl Fn(&Origin) -> bool,
    ) -> Result<(), OriginError> {
        let mut origins = origins.into_iter();
        if origins
            .all(|origin| Origin::from_bytes(origin).is_some_and(|origin| is_allowed(&origin)))
        {
            Ok(())
        } else {
            Err(OriginError::OriginNotAllowed)
        }
    }

    fn allowed_host(&self, text: &str) -> Result<Authority, OriginError> {
        let authority = Authority::parse(text).ok_or(OriginError::HostNotAllowed)?;
        let is_loopback = match &authority.host {
            Host::Ip(ip) => ip.is_loopback(),
            Host::Name(name) => name == "localhost",
        };
        if self.loopback && is_loopback || self.hosts.iter().any(|one| one.admits(&authority)) {
            Ok(authority)
        } else {
            Err(OriginError::HostNotAllowed)
        }
    }
}

/// A host and perhaps a port (RFC 3986, section 3.2, without user information).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Authority {
    host: Host,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Ip(IpAddr),
    /// In lower case.
    Name(String),
}

/// The ports of `http` and `https`, which a URL leaves out.
const HTTP: u16 = 80;
const HTTPS: u16 = 443;

impl Authority {
    fn parse(text: &str) -> Option<Self> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (ip, port) = rest.split_once(']')?;
            (Host::Ip(IpAddr::V6(ip.parse().ok()?)), port)
        } else {
            let end = text.find(':').unwrap_or(text.len());
            let (name, port) = text.split_at(end);
            let host = match name.parse() {
                Ok(ip) => Host::Ip(IpAddr::V4(ip)),
                Err(_) => Host::Name(name.to_ascii_lowercase()),
            };
            let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
            if name.is_empty() || !name.chars().all(is_legal) {
                return None;
            }
            (host, port)
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            // An empty port is the same as none (RFC 3986, section 3.2.3).
            Some("") => None,
            // `parse` would take a sign.
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            _ => return None,
        };
        Some(Self { host, port })
    }

    /// Whether a request for `other` may be answered where this one is allowed.
    fn admits(&self, other: &Self) -> bool {
        let same_port = match (self.port, other.port) {
            (None, _) => true,
            (Some(port), Some(other)) => port == other,
            (Some(port), None) => port == HTTP || port == HTTPS,
        };
        same_port && self.host == other.host
    }
}

/// A scheme, a host and a port (RFC 6454, section 4), with the default port filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: Host,
    port: Option<u16>,
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        if scheme.is_empty() || !scheme.chars().all(is_legal) {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let Authority { host, port } = Authority::parse(authority)?;
        let port = port.or(match scheme.as_str() {
            "http" => Some(HTTP),
            "https" => Some(HTTPS),
            _ => None,
        });
        Some(Self { scheme, host, port })
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::parse(visible(bytes)?)
    }

    /// Whether it is the origin of the pages that this host serves without TLS.
    fn is_of_http_host(&self, host: &Authority) -> bool {
        self.scheme == "http"
            && self.host == host.host
            && self.port == Some(host.port.unwrap_or(HTTP))
    }
}

fn values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &[u8]> {
    headers.get_all(name).iter().map(HeaderValue::as_bytes)
}

/// The host in the target of a request, if there is one.
fn host(target: &Uri) -> Option<&str> {
    target.authority().map(TargetAuthority::as_str)
}

/// The text of a header, if it is visible ASCII.
fn visible(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: [&str; 0] = [];

    fn bytes<'r>(values: &'r [&'r str]) -> impl Iterator<Item = &'r [u8]> {
        values.iter().map(|value| value.as_bytes())
    }

    fn pages(values: &[&str]) -> HeaderMap {
        let values = values
            .iter()
            .map(|value| HeaderValue::from_bytes(value.as_bytes()).unwrap());
        values.map(|value| (ORIGIN, value)).collect()
    }

    fn host(check: &OriginCheck, host: &str) -> Result<(), OriginError> {
        check.check_values(bytes(&[host]), None, bytes(&NOBODY))
    }

    fn origin(check: &OriginCheck, host: &str, origin: &str) -> Result<(), OriginError> {
        check.check_values(bytes(&[host]), None, bytes(&[origin]))
    }

    const NO_HOST: Result<(), OriginError> = Err(OriginError::HostNotAllowed);
    const NO_ORIGIN: Result<(), OriginError> = Err(OriginError::OriginNotAllowed);
    const INVALID: Result<(), OriginError> = Err(OriginError::InvalidHost);

    #[test]
    fn a_name_that_was_rebound_to_this_machine_is_refused() {
        let check = OriginCheck::loopback();
        for evil in [
            "evil.example.com",
            "evil.example.com:8080",
            "localhost.evil.example.com",
            "127.0.0.1.nip.example",
            "evil.example.com@localhost",
            "localhost@evil.example.com",
            "localhost:80@evil.example.com",
            "localhost/evil.example.com",
            "localhost#evil.example.com",
            "localhost,evil.example.com",
            "localhost.",
            "xlocalhost",
            "0.0.0.0",
            "2130706433",
            "0x7f.0.0.1",
            "192.168.0.1",
        ] {
            assert_eq!(host(&check, evil), NO_HOST, "{evil}");
        }
        assert_eq!(host(&OriginCheck::new(), "localhost"), NO_HOST);
    }

    #[test]
    fn this_machine_has_many_names_and_every_port() {
        let check = OriginCheck::loopback();
        for own in [
            "localhost",
            "LocalHost:1",
            "localhost:65535",
            "localhost:",
            "127.0.0.1",
            "127.8.9.10:8080",
            "[::1]",
            "[::1]:8080",
            "[0:0:0:0:0:0:0:1]",
        ] {
            assert_eq!(host(&check, own), Ok(()), "{own}");
        }
        for wrong in [
            "localhost:65536",
            "localhost:+80",
            "localhost:8o",
            "localhost:80:80",
            "::1",
            "[::1",
            "[::1]8080",
            "[::1%lo]",
            "[127.0.0.1]",
            "[]",
            ":80",
        ] {
            assert_eq!(host(&check, wrong), NO_HOST, "{wrong}");
        }
    }

    #[test]
    fn a_host_is_allowed_with_any_port_or_with_one() {
        let check = OriginCheck::new()
            .allow_host("Tools.example.com")
            .allow_host("one.example.com:8443")
            .allow_host("plain.example.com:80")
            .allow_host("fe80::1")
            .allow_host("[fe80::2]:90")
            .allow_host("not a host");
        for allowed in [
            "tools.example.com",
            "TOOLS.EXAMPLE.COM:8443",
            "one.example.com:8443",
            "plain.example.com",
            "plain.example.com:80",
            "[fe80::1]:7",
            "[FE80:0::1]",
            "[fe80::2]:90",
        ] {
            assert_eq!(host(&check, allowed), Ok(()), "{allowed}");
        }
        for other in [
            "one.example.com",
            "one.example.com:8444",
            "plain.example.com:8080",
            "[fe80::2]",
            "[fe80::3]",
            "localhost",
            "not",
        ] {
            assert_eq!(host(&check, other), NO_HOST, "{other}");
        }
    }

    #[test]
    fn a_request_has_one_host() {
        let check = OriginCheck::loopback();
        let hosts =
            |hosts: &[&str], target| check.check_values(bytes(hosts), target, bytes(&NOBODY));
        assert_eq!(hosts(&[], None), INVALID);
        assert_eq!(hosts(&[""], None), INVALID);
        assert_eq!(hosts(&["loc alhost"], None), INVALID);
        assert_eq!(hosts(&["l\u{f6}calhost"], None), INVALID);
        assert_eq!(hosts(&["localhost", "evil.example.com"], None), INVALID);
        assert_eq!(hosts(&["localhost", "localhost"], None), INVALID);
        assert_eq!(hosts(&[], Some("localhost:1")), Ok(()));
        assert_eq!(hosts(&[], Some("evil.example.com")), NO_HOST);
        assert_eq!(hosts(&["localhost"], Some("evil.example.com")), NO_HOST);
        assert_eq!(hosts(&["evil.example.com"], Some("localhost")), NO_HOST);
    }

    #[test]
    fn a_page_of_the_same_host_and_port_may_ask() {
        let check = OriginCheck::loopback();
        for (host, page) in [
            ("localhost:8080", "http://localhost:8080"),
            ("LOCALHOST:8080", "HTTP://localhost:8080"),
            ("localhost", "http://localhost"),
            ("localhost", "http://localhost:80"),
            ("localhost:80", "http://localhost"),
            ("[::1]:8080", "http://[0::1]:8080"),
        ] {
            assert_eq!(origin(&check, host, page), Ok(()), "{page}");
        }
        for (host, page) in [
            ("localhost:8080", "http://localhost:8081"),
            ("localhost:8080", "http://localhost"),
            ("localhost:8080", "https://localhost:8080"),
            ("localhost", "https://localhost"),
            ("localhost:443", "https://localhost"),
            ("localhost:8080", "http://127.0.0.1:8080"),
            ("localhost:8080", "http://evil.example.com"),
            ("localhost:8080", "http://localhost:8080.evil.example.com"),
            ("localhost:8080", "http://localhost:8080@evil.example.com"),
            ("localhost:8080", "http://user@localhost:8080"),
            ("localhost:8080", "http://localhost:8080/"),
            ("localhost:8080", "localhost:8080"),
            ("localhost:8080", "//localhost:8080"),
            ("localhost:8080", "null"),
            ("localhost:8080", ""),
        ] {
            assert_eq!(origin(&check, host, page), NO_ORIGIN, "{page}");
        }
    }

    #[test]
    fn an_origin_is_allowed_whatever_its_case_and_its_default_port() {
        let check = OriginCheck::loopback()
            .allow_origin("https://App.example.com/")
            .allow_origin("http://one.example.com:8080")
            .allow_origin("vscode-webview://a1")
            .allow_origin("null")
            .allow_origin("*");
        for allowed in [
            "https://app.example.com",
            "https://APP.example.com:443",
            "http://one.example.com:8080",
            "vscode-webview://a1",
        ] {
            assert_eq!(origin(&check, "localhost", allowed), Ok(()), "{allowed}");
            assert_eq!(check.check_origins(&pages(&[allowed])), Ok(()), "{allowed}");
        }
        for other in [
            "http://app.example.com",
            "https://app.example.com:444",
            "https://app.example.com.evil.example.com",
            "https://evil.example.com",
            "http://one.example.com",
            "null",
            "*",
            "https://*",
        ] {
            assert_eq!(origin(&check, "localhost", other), NO_ORIGIN, "{other}");
            assert_eq!(check.check_origins(&pages(&[other])), NO_ORIGIN, "{other}");
        }
        // That of the host is another matter.
        assert_eq!(
            check.check_origins(&pages(&["http://localhost"])),
            NO_ORIGIN
        );
        assert_eq!(check.check_origins(&pages(&NOBODY)), Ok(()));
    }

    #[test]
    fn every_origin_of_a_request_must_be_allowed() {
        let check = OriginCheck::loopback();
        let both = ["http://localhost", "http://evil.example.com"];
        let hosts = ["localhost"];
        assert_eq!(
            check.check_values(bytes(&hosts), None, bytes(&both[..1])),
            Ok(())
        );
        assert_eq!(
            check.check_values(bytes(&hosts), None, bytes(&both)),
            NO_ORIGIN
        );
        assert_eq!(
            check.check_origins(&pages(&both)),
            NO_ORIGIN,
            "neither was allowed"
        );
    }
}
