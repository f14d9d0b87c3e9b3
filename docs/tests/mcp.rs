//! The JSON on the page about the Model Context Protocol is what the server sends.

#[path = "readme/tool.rs"]
mod tool;

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use contract_mcp::Server;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../src/mcp.md");
const README: &str = include_str!("../../README.md");

/// Posts one message of the newer revision, which begins no session.
fn post(address: SocketAddr, method: &str, mut params: Value) -> Result<Value, Box<dyn Error>> {
    let name = params["name"]
        .as_str()
        .map(|name| format!("Mcp-Name: {name}\r\n"));
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "guide", "version": "1"},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{}Content-Length: {}\r\n\r\n{body}",
        name.unwrap_or_default(),
        body.len(),
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let lines = answer.lines().map(|line| line.trim_start_matches("data:"));
    let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    let message = messages.into_iter().find(Value::is_object);
    message.ok_or_else(|| format!("no message in {answer}").into())
}

/// Those that the page does not show, as it should show them.
fn missing(messages: &[Value]) -> String {
    let blocks = messages
        .iter()
        .map(|message| format!("```json\n{message:#}\n```\n"));
    blocks.filter(|block| !PAGE.contains(block)).collect()
}

#[test]
fn the_messages_are_real() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let _inside = runtime.enter();
    let listening = Server::new(registry!().build()?)
        .list_contracts()
        .bind("127.0.0.1:0")?;
    let address = listening.address();
    let served = runtime.spawn(listening.serve());

    let list = post(address, "tools/list", json!({}))?;
    let call = |name: &str, arguments: Value| {
        post(
            address,
            "tools/call",
            json!({"name": name, "arguments": arguments}),
        )
    };
    let violation = call("book_room", json!({"start": 600, "end": 540}))?["result"].clone();
    assert!(
        README.contains(&format!("```json\n{violation:#}\n```")),
        "README.md does not show\n{violation:#}"
    );
    let missing = missing(&[
        list["result"]["tools"][0].clone(),
        call("book_room", json!({"start": 540, "end": 600}))?["result"].clone(),
        violation,
        call("book_room", json!({"start": "nine", "ende": 600}))?["result"].clone(),
        call("book_rooms", json!({}))?["error"].clone(),
    ]);
    assert!(missing.is_empty(), "mcp.md does not show\n{missing}");
    served.abort();
    Ok(())
}
