//! Parses the address of a backend and connects to it, with TLS where required.

use std::convert::Infallible;
use std::fmt;
use std::io;

use hyper::client::conn::http1;
use hyper::header::{
    AUTHORIZATION, CONNECTION, HOST, HeaderName, HeaderValue, RETRY_AFTER, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::uri::Authority;
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::RemoteError;
#[cfg(feature = "tls")]
use crate::tls::{Roots, connector, explained};
use crate::token::Token;

pub(super) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// A connection to a backend, with TLS or without.
type Stream = Box<dyn Io>;

pub(super) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Io for S {}

/// Why a backend could not be reached.
#[derive(Debug)]
pub(super) enum WsConnectError {
    /// Retrying would not help.
    Permanent(String),
    /// The backend rejected the upgrade.
    Rejected {
        status: StatusCode,
        /// After how many seconds to retry.
        retry_after: Option<u64>,
    },
    /// A retry may succeed.
    Transient(String),
}

impl fmt::Display for WsConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Permanent(reason) | Self::Transient(reason) => f.write_str(reason),
            Self::Rejected { status, .. } => write!(f, "it answered {status}"),
        }
    }
}

/// The parts of an address.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    tls: bool,
    authority: Authority,
    port: u16,
    path: String,
}

impl Target {
    pub(super) fn new(address: &str) -> Result<Self, WsConnectError> {
        let wrong = |why: &str| WsConnectError::Permanent(why.to_owned());
        if address.contains('#') {
            return Err(wrong("the address must not have a fragment"));
        }
        let uri: Uri = address
            .parse()
            .map_err(|_| wrong("the address is not valid"))?;
        let tls = match uri.scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            _ => return Err(wrong("the address must begin with `ws://` or `wss://`")),
        };
        if uri.query().is_some() {
            return Err(wrong(
                "the address must not have a query; give the token separately",
            ));
        }
        let Some(authority) = uri.authority().cloned() else {
            return Err(wrong("the address has no host"));
        };
        if authority.as_str().contains('@') {
            return Err(wrong(
                "the address must not have a password; give the token separately",
            ));
        }
        // `Authority::port` returns `None` for an invalid port.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") | None => Some(if tls { 443 } else { 80 }),
            Some(port) => port.strip_prefix(':').and_then(|port| port.parse().ok()),
        };
        let port = port.ok_or_else(|| wrong("the port is not valid"))?;
        let path = uri.path().to_owned();
        Ok(Self {
            tls,
            authority,
            port,
            path,
        })
    }

    fn host(&self) -> &str {
        let host = self.authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        bare.unwrap_or(host)
    }

    /// Begins a request for a path below this address.
    #[cfg(any(test, feature = "redis"))]
    pub(super) fn get(&self, path: &str) -> hyper::http::request::Builder {
        let base = self.path.trim_end_matches('/');
        Request::get(format!("{base}{path}")).header(HOST, self.authority.as_str())
    }

    /// Connects, with TLS if the address says so.
    pub(super) async fn connect(
        &self,
        #[cfg(feature = "tls")] roots: Option<&Roots>,
    ) -> Result<Stream, WsConnectError> {
        let connected = TcpStream::connect((self.host(), self.port)).await;
        let stream = connected.map_err(|error| broken(&error))?;
        stream.set_nodelay(true).map_err(|error| broken(&error))?;
        if !self.tls {
            return Ok(Box::new(stream));
        }
        #[cfg(feature = "tls")]
        {
            let for_good = |error: RemoteError| WsConnectError::Permanent(error.to_string());
            let connector = connector(roots).map_err(for_good)?;
            let name = self.host().to_owned().try_into();
            let name = name
                .map_err(|_| WsConnectError::Permanent("the host name is not valid".to_owned()))?;
            let connected = connector.connect(name, stream).await;
            let stream = connected.map_err(|error| match explained(&error) {
                (told, true) => WsConnectError::Permanent(told),
                (told, false) => WsConnectError::Transient(told),
            })?;
            Ok(Box::new(stream))
        }
        #[cfg(not(feature = "tls"))]
        Err(WsConnectError::Permanent(
            "`wss://` needs the feature `tls` of contract-remote".to_owned(),
        ))
    }
}

/// Checks that somebody could connect to the address in a setting.
pub(crate) fn check_url(setting: &'static str, url: &str) -> Result<(), RemoteError> {
    let wrong = |reason| RemoteError::Url {
        setting,
        url: contract_runtime::__family::escaped(&redact(url)),
        reason,
    };
    match Target::new(url) {
        Ok(_) => Ok(()),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Removes a password and a query from an address: they may hold a token.
pub(super) fn redact(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    // Up to the authority, the authority, and the path.
    let begins = address.find("://").map_or(0, |at| at + "://".len());
    let (scheme, rest) = address.split_at(begins);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

/// Connects, with TLS if the address says so, and upgrades to a WebSocket.
///
/// tungstenite's own client writes the whole request into the log, token and all; hyper's writes nothing.
pub(super) async fn ws_connect(
    address: &str,
    token: &Token,
    #[cfg(feature = "tls")] roots: Option<&Roots>,
    config: WebSocketConfig,
) -> Result<Socket, WsConnectError> {
    let target = Target::new(address)?;
    let stream = target
        .connect(
            #[cfg(feature = "tls")]
            roots,
        )
        .await?;
    let key = generate_key();
    let (response, upgraded) = send_request(stream, request(&target, token, &key)?).await?;
    check_response(&response, &key)?;
    let upgraded = upgraded.ok_or_else(|| gone(()))?;
    let stream = TokioIo::new(upgraded);
    Ok(WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await)
}

fn broken(error: &io::Error) -> WsConnectError {
    WsConnectError::Transient(error.to_string())
}

/// The request that makes a WebSocket of a connection (RFC 6455, 4.1, 2011).
fn request(target: &Target, token: &Token, key: &str) -> Result<Request<String>, WsConnectError> {
    let bearer = HeaderValue::try_from(format!("Bearer {}", token.reveal()));
    let mut bearer = bearer.map_err(|_| {
        WsConnectError::Permanent("the token cannot be sent in a header".to_owned())
    })?;
    bearer.set_sensitive(true);
    Request::get(&target.path)
        .header(HOST, target.authority.as_str())
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        .header(SEC_WEBSOCKET_KEY, key)
        .header(AUTHORIZATION, bearer)
        .body(String::new())
        .map_err(|_| WsConnectError::Permanent("the address is not valid".to_owned()))
}

fn gone<E>(_: E) -> WsConnectError {
    WsConnectError::Transient("the connection broke before it was answered".to_owned())
}

/// Sends a request; returns the response, and the connection if the peer has switched protocols.
pub(super) async fn send_request(
    stream: Stream,
    request: Request<String>,
) -> Result<(Response<()>, Option<Upgraded>), WsConnectError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(gone)?;
    let drive = async {
        // The sender gets its error.
        let _ = connection.with_upgrades().await;
        std::future::pending::<Infallible>().await
    };
    let ask = async {
        let mut response = sender.send_request(request).await.map_err(gone)?;
        let upgraded = match response.status() {
            StatusCode::SWITCHING_PROTOCOLS => {
                Some(hyper::upgrade::on(&mut response).await.map_err(gone)?)
            }
            _ => None,
        };
        Ok((response.map(drop), upgraded))
    };
    tokio::select! {
        answered = ask => answered,
        never = drive => match never {},
    }
}

fn check_response<B>(response: &Response<B>, key: &str) -> Result<(), WsConnectError> {
    let headers = response.headers();
    let status = response.status();
    if status != StatusCode::SWITCHING_PROTOCOLS {
        let wanted = headers.get(UPGRADE).map(HeaderValue::as_bytes);
        if wanted.is_some_and(|wanted| wanted.starts_with(b"TLS/")) {
            let why = "the backend speaks TLS; the address must begin with `wss://`";
            return Err(WsConnectError::Permanent(why.to_owned()));
        }
        let retry_after = headers.get(RETRY_AFTER);
        return Err(WsConnectError::Rejected {
            status,
            retry_after: retry_after.and_then(|seconds| seconds.to_str().ok()?.parse().ok()),
        });
    }
    let says = |header: HeaderName, word: &str| {
        let value = headers.get(header).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.eq_ignore_ascii_case(word))
    };
    let upgraded = says(CONNECTION, "upgrade") && says(UPGRADE, "websocket");
    let accept = headers.get(SEC_WEBSOCKET_ACCEPT);
    if !upgraded || accept.is_none_or(|accept| accept != derive_accept_key(key.as_bytes()).as_str())
    {
        return Err(WsConnectError::Permanent(
            "what answered is not a WebSocket".to_owned(),
        ));
    }
    // Nothing was offered, so nothing can have been taken.
    if headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        let why = "the answer chose an extension that was not offered";
        return Err(WsConnectError::Permanent(why.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_refused() {
        for (address, tls, host, port, path) in [
            (
                "ws://127.0.0.1:7/executor/x",
                false,
                "127.0.0.1",
                7,
                "/executor/x",
            ),
            (
                "wss://tools.example/a/b",
                true,
                "tools.example",
                443,
                "/a/b",
            ),
            ("ws://[::1]/", false, "::1", 80, "/"),
        ] {
            let target = Target::new(address);
            let target = target
                .as_ref()
                .map(|target| (target.tls, target.host(), target.port, &*target.path));
            assert_eq!(target.ok(), Some((tls, host, port, path)), "{address}");
        }
        for (base, path) in [("ws://a", "/executor/x"), ("wss://a:7/b", "/b/executor/x")] {
            let request = Target::new(base).unwrap().get("/executor/x").body(());
            assert_eq!(request.unwrap().uri().path(), path, "{base}");
        }
        for address in [
            "",
            "/executor/x",
            "http://127.0.0.1/",
            "ws://",
            "ws://name:secret@127.0.0.1/",
            "ws://127.0.0.1/executor/x?token=secret",
            "ws://127.0.0.1/\r\nX: y",
        ] {
            let refused = Target::new(address).err();
            let told = format!("{refused:?}");
            assert!(
                matches!(refused, Some(WsConnectError::Permanent(_))),
                "{address}"
            );
            assert!(!told.contains("secret"), "{told}");
            assert!(!redact(address).contains("secret"), "{address}");
        }
    }
}
