//! HTTP as it stands on the wire, for what no client would send.

use std::time::Duration;

use contract_remote::{Backend, BackendHandle, Task};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;

use crate::raw::{Raw, handshake};

/// `host:port` and path of an address.
pub(crate) fn parts(address: &str) -> (String, String) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    (host.to_owned(), format!("/{path}"))
}

/// The request of an executor, line by line; each may be changed.
pub(crate) fn lines(path: &str, token: &str) -> Vec<String> {
    [
        &format!("GET {path} HTTP/1.1"),
        "Host: 127.0.0.1",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        &format!("Authorization: Bearer {token}"),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// What comes back: the head alone after an upgrade, else everything.
pub(crate) async fn exchange(host: &str, lines: &[String]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("{}\r\n\r\n", lines.join("\r\n"));
    stream.write_all(request.as_bytes()).await?;
    head(&mut stream).await
}

pub(crate) async fn head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut answer = Vec::new();
    loop {
        let read = timeout(Duration::from_secs(30), stream.read_buf(&mut answer)).await??;
        let upgraded = answer.starts_with(b"HTTP/1.1 101") && answer.ends_with(b"\r\n\r\n");
        if read == 0 || upgraded {
            return Ok(String::from_utf8_lossy(&answer).into_owned());
        }
    }
}

pub(crate) fn status(answer: &str) -> u16 {
    let status = answer.split(' ').nth(1).unwrap_or_default();
    status.parse().unwrap_or_default()
}

/// The value of a header of an answer.
pub(crate) fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    answer.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

/// A backend that listens, and one task of it.
pub(crate) struct Doorway {
    pub(crate) backend: BackendHandle,
    pub(crate) task: Task,
    pub(crate) token: String,
    pub(crate) host: String,
    pub(crate) path: String,
}

impl Doorway {
    pub(crate) async fn of(backend: Backend) -> Result<Self, Box<dyn std::error::Error>> {
        let backend = backend.bind("127.0.0.1:0").await?;
        let (task, token) = backend.task().await?;
        let (host, path) = parts(task.address());
        let token = token.reveal().to_owned();
        Ok(Self {
            backend,
            task,
            token,
            host,
            path,
        })
    }

    /// The request of its executor.
    pub(crate) fn lines(&self) -> Vec<String> {
        lines(&self.path, &self.token)
    }

    /// A client that was let in.
    pub(crate) async fn enter(&self) -> Result<Raw, tungstenite::Error> {
        let bearer = format!("Bearer {}", self.token);
        Raw::dial(self.task.address(), &[("authorization", bearer)]).await
    }

    /// A socket on which its executor, with these tools, is let in.
    pub(crate) async fn attach(
        &self,
        stream: TcpStream,
        known: &[&str],
    ) -> Result<TcpStream, Box<dyn std::error::Error>> {
        attach(stream, &self.task, &self.token, known).await
    }
}

/// A socket on which the executor of a task, with these tools, is let in.
pub(crate) async fn attach(
    mut stream: TcpStream,
    task: &Task,
    token: &str,
    known: &[&str],
) -> Result<TcpStream, Box<dyn std::error::Error>> {
    let (_, path) = parts(task.address());
    let request = lines(&path, token).join("\r\n") + "\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let answer = head(&mut stream).await?;
    assert_eq!(status(&answer), 101, "{answer}");
    let shake = handshake(task, known, &json!([])).to_string();
    let [high, low] = u16::try_from(shake.len())?.to_be_bytes();
    // A text in one frame, with a mask that masks nothing.
    let frame = [&[0x81, 0xfe, high, low, 0, 0, 0, 0], shake.as_bytes()].concat();
    stream.write_all(&frame).await?;
    Ok(stream)
}
