use std::net::IpAddr;

use hyper::header::{HOST, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};

/// Which requests are answered, by where they were sent and by which page sent them.
#[derive(Clone, Debug)]
pub(super) struct Door {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// Headers of which a proxy in front may judge another value than the one that is read here.
const ONCE: [&str; 2] = ["mcp-session-id", "mcp-protocol-version"];

pub(super) type Closed = (StatusCode, &'static str);

impl Door {
    pub(super) fn new(hosts: Vec<String>, origins: Vec<String>) -> Self {
        let origins = origins
            .into_iter()
            .map(|origin| origin.trim_end_matches('/').to_owned());
        Self {
            hosts,
            origins: origins.collect(),
        }
    }

    pub(super) fn admits(&self, request: &Parts) -> Result<(), Closed> {
        let mut hosts = request.headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok().and_then(|host| host.parse().ok()),
            (None, None) => request.uri.authority().cloned(),
            _ => None,
        };
        let bad = (StatusCode::BAD_REQUEST, "the request needs one valid Host");
        let host: Authority = host.ok_or(bad)?;
        // Where the target names a host, a proxy goes by that one (RFC 9112, section 3.2.2).
        let target = request.uri.authority();
        if !self.knows(&host) || !target.is_none_or(|target| self.knows(target)) {
            let why = "this Host is not answered; the program that serves it may allow it";
            return Err((StatusCode::FORBIDDEN, why));
        }
        for name in ONCE {
            if request.headers.get_all(name).iter().nth(1).is_some() {
                let why = "the session and the revision of a request are each named once";
                return Err((StatusCode::BAD_REQUEST, why));
            }
        }
        for origin in request.headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            if !self.trusts(origin, &host) {
                let why = "this Origin is not answered; the program that serves it may allow it";
                return Err((StatusCode::FORBIDDEN, why));
            }
        }
        Ok(())
    }

    fn knows(&self, host: &Authority) -> bool {
        let name = host.host();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let loopback = bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        // What stands before an `@` is no part of a Host (RFC 9110, section 7.2).
        if host.as_str().contains('@') {
            return false;
        }
        loopback
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|allowed| {
                allowed.eq_ignore_ascii_case(name)
                    || allowed.eq_ignore_ascii_case(bare)
                    || allowed.eq_ignore_ascii_case(host.as_str())
            })
    }

    /// A page of the same host and port is one that this listener serves.
    fn trusts(&self, origin: &str, host: &Authority) -> bool {
        let allowed = |allowed: &String| allowed.eq_ignore_ascii_case(origin);
        if self.origins.iter().any(allowed) {
            return true;
        }
        let Ok(uri) = origin.parse::<Uri>() else {
            return false;
        };
        let same = |page: &Authority| page.as_str().eq_ignore_ascii_case(host.as_str());
        uri.scheme_str() == Some("http") && uri.authority().is_some_and(same)
    }
}
