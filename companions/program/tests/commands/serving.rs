use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::started::{program, run_with};

tests![
    a_client_on_standard_input_is_served,
    a_client_over_http_is_served
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
        "127.0.0.1:0",
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
