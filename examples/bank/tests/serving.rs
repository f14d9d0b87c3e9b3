//! The program serves the bank to an MCP client, whose session is a run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

#[test]
fn an_account_is_closed_once_the_client_has_read_its_balance() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_bank"))
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = server.stdin.take().unwrap();
    let mut from = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut send = |message: Value| writeln!(to, "{message}").unwrap();
    let mut answer = || serde_json::from_str::<Value>(&from.next().unwrap().unwrap()).unwrap();

    let info = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
    answer();
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let tools = answer()["result"]["tools"].clone();
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["balance", "close", "transfer"]);

    let mut call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
        let result = answer()["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        (result["isError"] == true, text.to_owned())
    };
    let account = json!({"account": "cleo"});
    let (refused, why) = call("close", account.clone());
    assert!(
        refused && why.starts_with("read the balance of cleo first"),
        "{why}"
    );
    assert_eq!(call("balance", account.clone()), (false, "0".to_owned()));
    assert!(!call("close", account.clone()).0);
    assert_eq!(
        call("balance", account),
        (true, "there is no account cleo".to_owned())
    );

    drop(to);
    assert!(server.wait().unwrap().success());
}
