use std::convert::Infallible;
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

use crate::remote::RemoteError;
#[cfg(feature = "remote-tls")]
use crate::remote::tls::{Roots, connector, explained};
use crate::remote::token::Token;

pub(super) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Why a backend could not be reached.
#[derive(Debug)]
pub(super) enum Unreached {
    /// It would be the same another time.
    ForGood(String),
    /// The backend answered, and did not let the executor in.
    Refused {
        status: StatusCode,
        /// In how many seconds it may.
        retry_after: Option<u64>,
    },
    /// Another time it may work.
    Broken(String),
}

/// Where to, in the parts that are needed.
#[derive(Debug, PartialEq, Eq)]
struct Goal {
    tls: bool,
    authority: Authority,
    port: u16,
    path: String,
}

impl Goal {
    fn new(address: &str) -> Result<Self, Unreached> {
        let wrong = |why: &str| Unreached::ForGood(why.to_owned());
        if address.contains('#') {
            return Err(wrong("the address takes no fragment"));
        }
        let uri: Uri = address.parse().map_err(|_| wrong("the address is none"))?;
        let tls = match uri.scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            _ => return Err(wrong("the address begins with `ws://` or `wss://`")),
        };
        if uri.query().is_some() {
            return Err(wrong("the address takes no query; a token is given apart"));
        }
        let Some(authority) = uri.authority().cloned() else {
            return Err(wrong("the address names no host"));
        };
        if authority.as_str().contains('@') {
            return Err(wrong(
                "the address takes no password; a token is given apart",
            ));
        }
        // What is no number is none to `Authority::port`.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") | None => Some(if tls { 443 } else { 80 }),
            Some(port) => port.strip_prefix(':').and_then(|port| port.parse().ok()),
        };
        let port = port.ok_or_else(|| wrong("the port is none"))?;
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
}

/// Whether executors could dial in at this address.
pub(in crate::remote) fn check(base: &str) -> Result<(), RemoteError> {
    let wrong = |reason| RemoteError::ReachedAt {
        base: crate::tool::arguments::escaped(&shown(base)),
        reason,
    };
    match Goal::new(base) {
        Ok(_) => Ok(()),
        Err(Unreached::ForGood(reason) | Unreached::Broken(reason)) => Err(wrong(reason)),
        Err(Unreached::Refused { status, .. }) => Err(wrong(status.to_string())),
    }
}

/// An address as it may be told: somebody may have put a token into it.
pub(super) fn shown(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    // Up to the authority, the authority, and the path.
    let begins = address.find("://").map_or(0, |at| at + "://".len());
    let (scheme, rest) = address.split_at(begins);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

/// Dials, speaks TLS where the address says so, and asks to be let in.
///
/// tungstenite's own client writes the whole request into the log, token and all; hyper's writes nothing.
pub(super) async fn reach(
    address: &str,
    token: &Token,
    #[cfg(feature = "remote-tls")] roots: Option<&Roots>,
    config: WebSocketConfig,
) -> Result<Socket, Unreached> {
    let goal = Goal::new(address)?;
    let dialled = TcpStream::connect((goal.host(), goal.port)).await;
    let stream = dialled.map_err(|error| broken(&error))?;
    stream.set_nodelay(true).map_err(|error| broken(&error))?;
    if !goal.tls {
        return ask(stream, &goal, token, config).await;
    }
    #[cfg(feature = "remote-tls")]
    {
        let for_good = |error: RemoteError| Unreached::ForGood(error.to_string());
        let connector = connector(roots).map_err(for_good)?;
        let name = goal.host().to_owned().try_into();
        let name = name.map_err(|_| Unreached::ForGood("the host is no name".to_owned()))?;
        let stream = connector.connect(name, stream).await.map_err(|error| {
            let (told, for_good) = explained(&error);
            if for_good {
                Unreached::ForGood(told)
            } else {
                Unreached::Broken(told)
            }
        })?;
        ask(stream, &goal, token, config).await
    }
    #[cfg(not(feature = "remote-tls"))]
    Err(Unreached::ForGood(
        "`wss://` needs the feature `remote-tls` of contract-runtime".to_owned(),
    ))
}

fn broken(error: &io::Error) -> Unreached {
    Unreached::Broken(error.to_string())
}

/// The request that makes a WebSocket of a connection (RFC 6455, 4.1, 2011).
fn request(goal: &Goal, token: &Token, key: &str) -> Result<Request<String>, Unreached> {
    let bearer = HeaderValue::try_from(format!("Bearer {}", token.reveal()));
    let mut bearer =
        bearer.map_err(|_| Unreached::ForGood("the token is no value of a header".to_owned()))?;
    bearer.set_sensitive(true);
    Request::get(&goal.path)
        .header(HOST, goal.authority.as_str())
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        .header(SEC_WEBSOCKET_KEY, key)
        .header(AUTHORIZATION, bearer)
        .body(String::new())
        .map_err(|_| Unreached::ForGood("the address is none".to_owned()))
}

async fn ask<S>(
    stream: S,
    goal: &Goal,
    token: &Token,
    config: WebSocketConfig,
) -> Result<Socket, Unreached>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let key = generate_key();
    let request = request(goal, token, &key)?;
    let gone = |_| Unreached::Broken("the connection broke before it was answered".to_owned());
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(gone)?;
    let drive = async {
        // How it ended, whoever asks is told.
        let _ = connection.with_upgrades().await;
        std::future::pending::<Infallible>().await
    };
    let ask = async {
        let response = sender.send_request(request).await.map_err(gone)?;
        judge(&response, &key)?;
        hyper::upgrade::on(response).await.map_err(gone)
    };
    let upgraded = tokio::select! {
        upgraded = ask => upgraded?,
        never = drive => match never {},
    };
    let stream = TokioIo::new(upgraded);
    Ok(WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await)
}

fn judge<B>(response: &Response<B>, key: &str) -> Result<(), Unreached> {
    let headers = response.headers();
    let status = response.status();
    if status != StatusCode::SWITCHING_PROTOCOLS {
        let wanted = headers.get(UPGRADE).map(HeaderValue::as_bytes);
        if wanted.is_some_and(|wanted| wanted.starts_with(b"TLS/")) {
            let why = "the backend speaks TLS; the address begins with `wss://`";
            return Err(Unreached::ForGood(why.to_owned()));
        }
        let retry_after = headers.get(RETRY_AFTER);
        return Err(Unreached::Refused {
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
        return Err(Unreached::ForGood(
            "what answered is no WebSocket".to_owned(),
        ));
    }
    // Nothing was offered, so nothing can have been taken.
    if headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        let why = "the answer chose an extension that was not offered";
        return Err(Unreached::ForGood(why.to_owned()));
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
            let goal = Goal::new(address);
            let goal = goal
                .as_ref()
                .map(|goal| (goal.tls, goal.host(), goal.port, &*goal.path));
            assert_eq!(goal.ok(), Some((tls, host, port, path)), "{address}");
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
            let refused = Goal::new(address).err();
            let told = format!("{refused:?}");
            assert!(matches!(refused, Some(Unreached::ForGood(_))), "{address}");
            assert!(!told.contains("secret"), "{told}");
            assert!(!shown(address).contains("secret"), "{address}");
        }
    }
}
