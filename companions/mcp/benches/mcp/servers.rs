//! The two servers: a registry, and the same by hand on rmcp. Each runs in a process of its own until its input ends.

use std::sync::Arc;

use axum::serve::ListenerExt as _;
use contract_mcp::Server;
use contract_mcp::rmcp;
use contract_runtime::prelude::*;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::runtime::{Builder, Runtime};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Ours,
    Bare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http { json: bool },
}

/// The first argument of this program when it is a server.
const SERVE: &str = "--serve";

/// The arguments that make this program a server; counted ones have one thread, so that no waiting is counted.
pub(crate) fn arguments(which: Which, transport: Transport, counted: bool) -> [&'static str; 4] {
    let which = match which {
        Which::Ours => "ours",
        Which::Bare => "bare",
    };
    let transport = match transport {
        Transport::Stdio => "stdio",
        Transport::Http { json: true } => "json",
        Transport::Http { json: false } => "events",
    };
    [
        SERVE,
        which,
        transport,
        if counted { "counted" } else { "timed" },
    ]
}

/// Serves, if that is what the arguments say, and tells whether it did.
pub(crate) fn served(arguments: &[String]) -> bool {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [SERVE, which, transport, threads] = words[..] else {
        return false;
    };
    let runtime = match threads {
        "counted" => Builder::new_current_thread().enable_all().build(),
        _ => Runtime::new(),
    };
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        match (which, transport) {
            ("ours", "stdio") => {
                let server = ours().calls(1 << 20);
                server.stdio().await.expect("it serves");
            }
            (_, "stdio") => {
                let streams = rmcp::transport::stdio_pipes();
                let service = Bare.serve(streams).await.expect("it begins");
                service.waiting().await.expect("it serves");
            }
            (_, transport) => {
                let mut input = tokio::io::stdin();
                let mut end = [0];
                tokio::select! {
                    () = listen(which == "ours", transport == "json") => {}
                    _ = input.read(&mut end) => {}
                }
            }
        }
    });
    runtime.shutdown_background();
    true
}

fn ours() -> Server {
    let registry = Registry::builder().tool(add).tool(echo).build();
    Server::new(registry.expect("two good tools"))
}

async fn listen(is_ours: bool, json: bool) {
    if is_ours {
        let listening = ours().bind("127.0.0.1:0").expect("a port is free");
        println!("{}", listening.address());
        listening.serve().await.expect("it serves");
        return;
    }
    let service = StreamableHttpService::new(
        || Ok(Bare),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(json),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port is free");
    println!("{}", listener.local_addr().expect("it listens"));
    // Without it, an answer in pieces waits for the client's system to confirm the first.
    let prompt = listener.tap_io(|stream| stream.set_nodelay(true).expect("a socket"));
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(prompt, router).await.expect("it serves");
}
