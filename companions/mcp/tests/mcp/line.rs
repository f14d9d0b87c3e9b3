//! A client that speaks in lines, and knows nothing.

use std::time::Duration;

use contract_mcp::{ServeError, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::tools::{Seen, registry, within};

pub(crate) struct Client {
    pub(crate) write: WriteHalf<DuplexStream>,
    pub(crate) read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) serving: JoinHandle<Result<(), ServeError>>,
    pub(crate) seen: Seen,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with(|server| server, 1 << 16)
    }

    /// A client of a server that is set up, over a pipe of so many bytes.
    pub(crate) fn with(set: impl FnOnce(Server) -> Server, pipe: usize) -> Self {
        let seen = Seen::default();
        let server = set(Server::new(registry(&seen).unwrap()));
        Self::of(server, pipe, seen)
    }

    pub(crate) fn of(server: Server, pipe: usize, seen: Seen) -> Self {
        let (ours, theirs) = tokio::io::duplex(pipe);
        let (read, write) = tokio::io::split(theirs);
        let serving = tokio::spawn(server.streams(read, write));
        let (read, write) = tokio::io::split(ours);
        let read = BufReader::new(read).lines();
        Self {
            write,
            read,
            serving,
            seen,
        }
    }

    pub(crate) async fn say(&mut self, line: impl AsRef<[u8]>) {
        within(async {
            self.write.write_all(line.as_ref()).await.unwrap();
            self.write.write_all(b"\n").await.unwrap();
        })
        .await;
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let line = within(self.read.next_line()).await.unwrap();
        serde_json::from_str(&line.expect("the server ended")).expect("every line is JSON")
    }

    /// The handshake of revision 2025-11-25.
    pub(crate) async fn begin(&mut self) -> Value {
        self.begin_with("2025-11-25").await
    }

    /// The handshake of a revision.
    pub(crate) async fn begin_with(&mut self, revision: &str) -> Value {
        self.begin_offering(revision, json!({})).await
    }

    /// The handshake of a client with these capabilities.
    pub(crate) async fn begin_offering(&mut self, revision: &str, capabilities: Value) -> Value {
        self.say(
            json!({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
                "protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"},
            }})
            .to_string(),
        )
        .await;
        let answer = self.hear().await;
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        answer
    }

    pub(crate) async fn call(&mut self, id: impl Into<Value>, name: &str, arguments: Value) {
        let params = json!({"name": name, "arguments": arguments});
        self.say(
            json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params})
                .to_string(),
        )
        .await;
    }

    /// Whether the server still answers.
    pub(crate) async fn lives(&mut self) {
        self.say(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#)
            .await;
        assert_eq!(
            self.hear().await,
            json!({"jsonrpc": "2.0", "id": "ping", "result": {}})
        );
    }

    /// Closes the server's input.
    pub(crate) async fn close(&mut self) {
        self.write.shutdown().await.unwrap();
    }
}

/// A request of the newer revision.
pub(crate) fn july(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// Short enough for a test that waits for it, and never what a test relies on.
pub(crate) const SHORT: Duration = Duration::from_millis(100);
