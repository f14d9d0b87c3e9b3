//! Calls per second over MCP, beside a bare rmcp server with the same two tools, in the same run.
//!
//! Each figure is the best of several rounds that take turns, so that a busy machine slows both.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::serve::ListenerExt as _;
use contract_runtime::mcp::Server;
use contract_runtime::mcp::rmcp::ErrorData;
use contract_runtime::mcp::rmcp::handler::server::ServerHandler;
use contract_runtime::mcp::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use contract_runtime::mcp::rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use contract_runtime::mcp::rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use contract_runtime::mcp::rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
};
use contract_runtime::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

const ROUNDS: usize = 5;

/// Add two numbers.
#[tool(read_only)]
#[pre(a >= 0, "a must not be negative")]
fn add(a: i64, b: i64) -> i64 {
    a.saturating_add(b)
}

/// Say it again.
#[tool(read_only)]
fn echo(text: String) -> String {
    text
}

/// The same by hand.
#[derive(Clone)]
struct Bare;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Echo {
    text: String,
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Vec::new()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let refused = |error: serde_json::Error| {
            CallToolResult::error(vec![ContentBlock::text(error.to_string())])
        };
        let result = match &*request.name {
            "add" => match serde_json::from_value(arguments) {
                Ok(Add { a, .. }) if a < 0 => {
                    CallToolResult::error(vec![ContentBlock::text("a must not be negative")])
                }
                Ok(Add { a, b }) => CallToolResult::structured(json!(a.saturating_add(b))),
                Err(error) => refused(error),
            },
            "echo" => match serde_json::from_value(arguments) {
                Ok(Echo { text }) => {
                    let mut result =
                        CallToolResult::success(vec![ContentBlock::text(text.clone())]);
                    result.structured_content = Some(Value::String(text));
                    result
                }
                Err(error) => refused(error),
            },
            _ => return Err(ErrorData::invalid_params("no such tool", None)),
        };
        Ok(result.into())
    }
}

#[derive(Clone, Copy)]
enum Which {
    Ours,
    Bare,
}

fn ours() -> Server {
    let registry = Registry::builder().tool(add).tool(echo).build();
    Server::new(registry.expect("two good tools"))
}

fn request(id: usize, name: &str, arguments: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": name, "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        },
    }})
    .to_string()
}

/// Calls over a pipe in memory, so many at once; the time for all.
async fn lines(
    which: Which,
    calls: usize,
    at_once: usize,
    name: &str,
    arguments: &Value,
) -> Duration {
    let (client, server) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(server);
    match which {
        Which::Ours => {
            tokio::spawn(ours().calls(1 << 20).streams(read, write));
        }
        Which::Bare => {
            tokio::spawn(async move {
                let service = Bare.serve((read, write)).await.expect("it begins");
                service.waiting().await
            });
        }
    }
    let (read, mut write) = tokio::io::split(client);
    let mut read = BufReader::new(read);
    let requests: Vec<String> = (0..calls)
        .map(|id| request(id, name, arguments) + "\n")
        .collect();
    let mut line = String::new();
    let started = Instant::now();
    let mut answered = 0;
    for (sent, request) in requests.iter().enumerate() {
        write.write_all(request.as_bytes()).await.expect("it reads");
        // The first goes alone, because the server begins with it.
        while answered + at_once <= sent || (sent == 0 && answered == 0) {
            line.clear();
            read.read_line(&mut line).await.expect("it writes");
            assert!(line.contains("\"isError\":false"), "{line}");
            answered += 1;
        }
    }
    while answered < calls {
        line.clear();
        read.read_line(&mut line).await.expect("it writes");
        answered += 1;
    }
    started.elapsed()
}

async fn listen(which: Which, as_json: bool) -> SocketAddr {
    match which {
        Which::Ours => {
            let listening = ours().bind("127.0.0.1:0").expect("a port is free");
            let address = listening.address();
            tokio::spawn(listening.serve());
            address
        }
        Which::Bare => {
            let service = StreamableHttpService::new(
                || Ok(Bare),
                Arc::new(LocalSessionManager::default()),
                StreamableHttpServerConfig::default().with_json_response(as_json),
            );
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
            let listener = listener.expect("a port is free");
            let address = listener.local_addr().expect("it listens");
            // Without it, an answer in pieces waits for the client's system to confirm the first.
            let prompt = listener.tap_io(|stream| stream.set_nodelay(true).expect("a socket"));
            let router = axum::Router::new().nest_service("/mcp", service);
            tokio::spawn(async move { axum::serve(prompt, router).await });
            address
        }
    }
}

/// Calls one after the other on each of so many connections; the time for all.
async fn web(
    address: SocketAddr,
    calls: usize,
    connections: usize,
    name: &str,
    arguments: &Value,
) -> Duration {
    let body = request(1, name, arguments);
    let text = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {name}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let started = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let text = text.clone();
        clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            stream.set_nodelay(true).expect("a socket");
            let mut read = Vec::with_capacity(1 << 14);
            for _ in 0..calls / connections {
                stream.write_all(text.as_bytes()).await.expect("it reads");
                read.clear();
                while !whole(&read) {
                    let count = stream.read_buf(&mut read).await.expect("it writes");
                    assert_ne!(count, 0, "{}", String::from_utf8_lossy(&read));
                }
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.expect("no client fails");
    }
    started.elapsed()
}

fn whole(read: &[u8]) -> bool {
    let text = String::from_utf8_lossy(read);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    assert!(head.starts_with("HTTP/1.1 200"), "{text}");
    let length = head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case("content-length").then_some(value)
    });
    match length {
        Some(length) => length.parse() == Ok(body.len()),
        None => body.ends_with("0\r\n\r\n"),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
fn row(what: &str, calls: usize, ours: Duration, bare: Duration) {
    let per_second = |time: Duration| calls as f64 / time.as_secs_f64();
    println!(
        "{what:<44} {:>9.0} {:>9.0} {:>6.2}x",
        per_second(ours),
        per_second(bare),
        per_second(ours) / per_second(bare),
    );
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!(
        "{:<44} {:>9} {:>9} {:>7}",
        "calls per second", "ours", "bare", "ratio"
    );
    runtime.block_on(async {
        let small = json!({"a": 1, "b": 2});
        let large = json!({"text": "x".repeat(10_000)});
        for (what, name, arguments, calls, at_once) in [
            ("stdio, small, one at a time", "add", &small, 4_000, 1),
            ("stdio, small, 64 at once", "add", &small, 20_000, 64),
            ("stdio, 10 kB, 64 at once", "echo", &large, 4_000, 64),
        ] {
            let mut best = [Duration::MAX; 2];
            for _ in 0..ROUNDS {
                for (place, which) in [Which::Ours, Which::Bare].into_iter().enumerate() {
                    let time = lines(which, calls, at_once, name, arguments).await;
                    best[place] = best[place].min(time);
                }
            }
            row(what, calls, best[0], best[1]);
        }
        let ours = listen(Which::Ours, true).await;
        for (kind, as_json) in [("events", false), ("JSON", true)] {
            let bare = listen(Which::Bare, as_json).await;
            for (what, name, arguments, calls, connections) in [
                ("http, small, one connection", "add", &small, 2_000, 1),
                ("http, small, 16 connections", "add", &small, 8_000, 16),
                ("http, 10 kB, 16 connections", "echo", &large, 2_000, 16),
            ] {
                let mut best = [Duration::MAX; 2];
                for _ in 0..ROUNDS {
                    for (place, address) in [ours, bare].into_iter().enumerate() {
                        let time = web(address, calls, connections, name, arguments).await;
                        best[place] = best[place].min(time);
                    }
                }
                row(
                    &format!("{what}; bare answers {kind}"),
                    calls,
                    best[0],
                    best[1],
                );
            }
        }
    });
    runtime.shutdown_background();
}
