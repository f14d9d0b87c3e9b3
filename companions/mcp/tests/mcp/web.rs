//! A client that speaks HTTP by hand, so that it may speak it badly.

use std::net::SocketAddr;

use contract_mcp::{self, ServeError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::line::july;
use super::tools::{Seen, registry, within};

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The last JSON of the body: the whole of it, or of its last event.
    pub(crate) fn json(&self) -> Value {
        let mut events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let last = events.rfind(|data| !data.trim().is_empty());
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap_or_else(|_| panic!("{}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        Self {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: if chunked {
                unchunked(body)
            } else {
                body.to_owned()
            },
        }
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        let Some(chunk) = rest.get(..size) else { break };
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or("");
    }
    whole
}

impl Server {
    pub(crate) fn start(server: contract_mcp::Server) -> Self {
        let listening = server.bind("127.0.0.1:0").unwrap();
        Self {
            address: listening.address(),
            stop: listening.stop(),
            served: tokio::spawn(listening.serve()),
        }
    }

    pub(crate) fn with(
        set: impl FnOnce(contract_mcp::Server) -> contract_mcp::Server,
    ) -> (Self, Seen) {
        let seen = Seen::default();
        let server = contract_mcp::Server::new(registry(&seen).unwrap());
        (Self::start(set(server)), seen)
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        within(TcpStream::connect(self.address)).await.unwrap()
    }

    /// Sends these bytes, and reads until the server closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect().await;
        within(async {
            // A server that has closed already may still have answered.
            let _ = stream.write_all(bytes).await;
            let mut text = Vec::new();
            let _ = stream.read_to_end(&mut text).await;
            Answer::read(&String::from_utf8_lossy(&text))
        })
        .await
    }

    pub(crate) fn post(&self, headers: &str, body: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
    }

    pub(crate) fn july_text(&self, method: &str, params: Value, headers: &str) -> String {
        let name = params["name"]
            .as_str()
            .map(|name| format!("Mcp-Name: {name}\r\n"));
        let headers = format!(
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{}{headers}",
            name.unwrap_or_default()
        );
        self.post(&headers, &july(1, method, params).to_string())
    }

    /// One request of the newer revision.
    pub(crate) async fn july(&self, method: &str, params: Value, headers: &str) -> Answer {
        self.raw(self.july_text(method, params, headers).as_bytes())
            .await
    }

    /// The handshake of a revision, which begins a session.
    pub(crate) async fn initialize(&self, revision: &str) -> Answer {
        let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }});
        self.raw(self.post("", &begin.to_string()).as_bytes()).await
    }

    /// Begins a session of revision 2025-11-25, and gives its id.
    pub(crate) async fn session(&self) -> Result<String, Answer> {
        let answer = self.initialize("2025-11-25").await;
        match answer.header("mcp-session-id") {
            Some(id) => Ok(id.to_owned()),
            None => Err(answer),
        }
    }

    /// One request of the older revision.
    pub(crate) async fn november(&self, session: &str, message: &Value) -> Answer {
        let headers = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
        self.raw(self.post(&headers, &message.to_string()).as_bytes())
            .await
    }

    /// Whether it still answers.
    pub(crate) async fn lives(&self) {
        let answer = self.july("tools/call", json!({"name": "point"}), "").await;
        assert_eq!(answer.status, 200, "{} {}", answer.head, answer.body);
        assert_eq!(answer.json()["result"]["structuredContent"]["x"], 1);
    }
}

pub(crate) fn call(id: u32, name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}})
}
