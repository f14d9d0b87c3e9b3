//! Tools that only some principals see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contract_mcp::{Principal, Refusal, ServedTools};
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::tools::{divide, point, within};
use super::web::Server;

/// `point` is for ada, until it is for bob.
fn start() -> (Server, ServedTools, Arc<AtomicBool>) {
    let of_bob = Arc::new(AtomicBool::new(false));
    let moved = Arc::clone(&of_bob);
    let registry = Registry::builder()
        .tool(divide)
        .tool(point)
        .visible(move |context, tool| {
            let user = ["ada", "bob"][usize::from(moved.load(Ordering::Relaxed))];
            tool.name() == "divide" || context.caller().unwrap() == user
        })
        .build()
        .unwrap();
    let server = contract_mcp::Server::new(registry).authorize(|credentials| {
        let token = credentials.bearer().map(str::to_owned);
        async { Ok(Principal::new(token.ok_or(Refusal::NoToken)?)) }
    });
    let tools = server.tools();
    (Server::start(server), tools, of_bob)
}

fn bearer(user: &str) -> String {
    format!("Authorization: Bearer {user}\r\n")
}

async fn listed(server: &Server, user: &str) -> Vec<String> {
    let answer = server.july("tools/list", json!({}), &bearer(user)).await;
    let result = &answer.json()["result"];
    assert_eq!(result["cacheScope"], "private", "{result}");
    let tools = result["tools"].as_array().unwrap();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

#[tokio::test]
async fn a_principal_lists_and_calls_its_own_tools() {
    let (server, _, of_bob) = start();
    let call = async |user: &str| {
        let params = json!({"name": "point", "arguments": {}});
        let answer = server.july("tools/call", params, &bearer(user)).await;
        let answer = answer.json();
        match answer["error"]["message"].as_str() {
            Some(why) => why.to_owned(),
            None => answer["result"]["isError"].to_string(),
        }
    };
    assert_eq!(listed(&server, "ada").await, ["divide", "point"]);
    assert_eq!(listed(&server, "bob").await, ["divide"]);
    assert_eq!(call("ada").await, "false");
    let refused = "there is no tool of that name; the only tool is `divide`";
    assert_eq!(call("bob").await, refused);
    of_bob.store(true, Ordering::Relaxed);
    assert_eq!(listed(&server, "ada").await, ["divide"]);
    assert_eq!(listed(&server, "bob").await, ["divide", "point"]);
    assert_eq!(call("ada").await, refused);
    assert_eq!(call("bob").await, "false");
}

/// Opens a stream of events by a request, and waits until it has begun.
async fn open(server: &Server, request: &str) -> TcpStream {
    let mut stream = server.connect().await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 1];
    within(stream.read_exact(&mut first)).await.unwrap();
    stream
}

#[tokio::test]
async fn only_the_principal_whose_list_changes_is_told() {
    let (server, tools, _) = start();
    let mut streams = Vec::new();
    for user in ["ada", "bob"] {
        let filter = json!({"notifications": {"toolsListChanged": true}});
        let listen = server.july_text("subscriptions/listen", filter, &bearer(user));
        streams.push((user, open(&server, &listen).await));
        let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }});
        let request = server.post(&bearer(user), &begin.to_string());
        let answer = server.raw(request.as_bytes()).await;
        let session = answer.header("mcp-session-id").unwrap();
        let headers = format!("{}Mcp-Session-Id: {session}\r\n", bearer(user));
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let request = server.post(&headers, initialized);
        assert_eq!(server.raw(request.as_bytes()).await.status, 202);
        let get = format!(
            "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n{headers}\r\n",
            server.address
        );
        streams.push((user, open(&server, &get).await));
    }
    let mut heard = Vec::new();
    tools.changed_for("bob");
    for _ in 0..2 {
        // Whoever is told wrongly of the first change has two when the second one arrives.
        tools.changed_for("ada");
    }
    for (user, mut stream) in streams {
        let expected = if user == "ada" { 2 } else { 1 };
        let mut text = String::new();
        let mut piece = [0; 4096];
        within(async {
            while text.matches("tools/list_changed").count() < expected {
                let read = stream.read(&mut piece).await.unwrap();
                assert_ne!(read, 0, "{text}");
                text.push_str(&String::from_utf8_lossy(&piece[..read]));
            }
        })
        .await;
        heard.push((user, expected, stream, text));
    }
    server.stop.cancel();
    for (user, expected, mut stream, mut text) in heard {
        let _ = within(stream.read_to_string(&mut text)).await;
        let told = text.matches("tools/list_changed").count();
        assert_eq!(told, expected, "{user}: {text}");
    }
}
