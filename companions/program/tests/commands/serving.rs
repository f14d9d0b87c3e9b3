use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::started::{program, run, run_with};
use super::terminals::typed_on_a_terminal;

tests![
    a_client_on_standard_input_is_served,
    a_client_over_http_is_served,
    a_client_is_told_how_to_connect,
    somebody_at_a_terminal_is_told_what_it_waits_for,
];

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }})
}

fn a_client_on_standard_input_is_served() {
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "divide", "arguments": {"dividend": 1, "divisor": 4},
    }});
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let input: String = [initialize(), begun, call]
        .map(|one| format!("{one}\n"))
        .concat();
    let said = run_with(input.as_bytes(), &["serve"]);
    assert_eq!(said.code, 0, "{said:?}");
    let answers: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        answers[0]["result"]["serverInfo"]["name"],
        "contract-program"
    );
    assert_eq!(answers[1]["result"]["content"][0]["text"], "0.25");
    assert_eq!(answers.len(), 2, "only the protocol is on standard output");
}

fn a_client_over_http_is_served() {
    let mut command = program(&[
        "serve",
        "--json",
        "--http",
        "localhost:0",
        "--allow-host",
        "tools.example",
    ]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    while !text.ends_with("}\n") {
        assert_ne!(lines.read_line(&mut text).unwrap(), 0, "{text}");
    }
    let said: Value = serde_json::from_str(&text).unwrap();
    let url = said["listening"].as_str().unwrap();
    let address = url
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/mcp")
        .unwrap();
    for (host, status) in [
        (address, "200"),
        ("tools.example", "200"),
        ("evil.example", "403"),
    ] {
        let body = initialize().to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&answer),
            format!("HTTP/1.1 {status}"),
            "{host}"
        );
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn a_client_is_told_how_to_connect() {
    let config = |words: &[&str]| run(&[&["serve", "--print-config"], words].concat()).json();
    let name = "contract-program";
    let program = std::env::current_exe().unwrap();
    for client in ["claude-code", "claude-desktop", "cursor", "inspector"] {
        let server = &config(&[client])["mcpServers"][name];
        assert_eq!(server["command"], program.to_str().unwrap(), "{client}");
        assert_eq!(server["args"], json!(["serve"]), "{client}");
    }
    let there = &["--http", "tools.example:80", "--ask-client"];
    let url = "http://tools.example:80/mcp";
    let with = |client| config(&[&[client], &there[..]].concat());
    assert_eq!(
        with("vscode"),
        json!({"servers": {name: {"type": "http", "url": url}}})
    );
    assert_eq!(with("cursor"), json!({"mcpServers": {name: {"url": url}}}));
    assert_eq!(
        with("inspector")["mcpServers"][name]["type"],
        "streamable-http"
    );
    assert_eq!(
        with("claude-desktop")["mcpServers"][name]["args"],
        json!(["-y", "mcp-remote", url])
    );
    assert_eq!(
        config(&["vscode", "--ask-client"])["servers"][name]["args"],
        json!(["serve", "--ask-client"])
    );
    let said = run(&["serve", "--print-config", "cursor"]);
    assert!(
        said.err.starts_with("it belongs in: .cursor/mcp.json"),
        "{said:?}"
    );
}

fn somebody_at_a_terminal_is_told_what_it_waits_for() {
    let Some((said, _)) = typed_on_a_terminal(&[], &["serve"], Some("\u{3}")) else {
        return;
    };
    assert!(
        said.contains("for a client of the Model Context Protocol"),
        "{said}"
    );
    assert!(
        said.contains("claude mcp add contract-program -- /"),
        "{said}"
    );
}
