//! Arguments that a client repeats in headers (Model Context Protocol 2026-07-28, "Transports: Streamable HTTP").

use contract_runtime::DynamicSpec;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use super::web::{Answer, Server};

const OUTCOME: &str = "rs.docs.contract-runtime/outcome";

/// A server of two tools that say their arguments again; for one of them a header has to say them too.
fn server() -> Server {
    let again = |name: &str, region: Value| {
        let spec = DynamicSpec::new(name, "Say where.").input_schema(json!({
            "type": "object",
            "properties": {"region": region, "more": {}},
            "required": ["region"],
        }));
        Tool::dynamic(spec, |arguments| async move {
            Ok::<_, String>(Content::text(arguments["region"].to_string()))
        })
    };
    let tools = vec![
        again("plain", json!({"type": "string"})),
        again(
            "routed",
            json!({"type": "string", "x-mcp-header": "Region"}),
        ),
    ];
    let registry = Registry::builder().with(tools).build().unwrap();
    Server::start(contract_mcp::Server::new(registry))
}

/// A call whose arguments are written like this.
async fn call(server: &Server, name: &str, arguments: &str, headers: &str) -> Answer {
    let params = json!({"name": name, "arguments": {"here": 0}});
    let text = server.july_text("tools/call", params, headers);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let body = body.replace(r#"{"here":0}"#, arguments);
    let head: Vec<String> = head
        .lines()
        .map(|line| match line.split_once(": ") {
            Some(("Content-Length", _)) => format!("Content-Length: {}", body.len()),
            _ => line.to_owned(),
        })
        .collect();
    let text = format!("{}\r\n\r\n{body}", head.join("\r\n"));
    server.raw(text.as_bytes()).await
}

/// Nested deeper than anybody reads who reads it as a whole.
fn deep() -> String {
    let (open, close) = ("[".repeat(500), "]".repeat(500));
    format!(r#"{{"region":"eu","more":{open}{close}}}"#)
}

#[tokio::test]
async fn arguments_that_no_header_repeats_are_read_by_nobody_else() {
    let server = server();
    let answer = call(&server, "plain", r#"{"region":"eu"}"#, "").await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], r#""eu""#);
    // Judged here, with all that is said of them; whoever read the message with them in it would refuse it as a whole.
    let answer = call(&server, "plain", &deep(), "").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let outcome = &answer.json()["result"]["_meta"][OUTCOME];
    assert_eq!(outcome["status"], "invalid_arguments", "{}", answer.body);
}

#[tokio::test]
async fn arguments_that_a_header_repeats_are_compared_with_it() {
    let server = server();
    let eu = r#"{"region":"eu"}"#;
    let answer = call(&server, "routed", eu, "Mcp-Param-Region: eu\r\n").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["result"]["content"][0]["text"], r#""eu""#);
    for headers in ["", "Mcp-Param-Region: us\r\n"] {
        let answer = call(&server, "routed", eu, headers).await;
        assert_eq!(answer.status, 400, "{headers}: {}", answer.body);
        assert!(answer.json()["error"]["code"].is_i64(), "{}", answer.body);
    }
    // They were left in the message, which is read as a whole then.
    let answer = call(&server, "routed", &deep(), "Mcp-Param-Region: eu\r\n").await;
    assert!((400..500).contains(&answer.status), "{}", answer.body);
}

#[tokio::test]
async fn arguments_that_a_header_repeats_are_judged_as_they_were_written() {
    let server = server();
    let twice = r#"{"region":"us","region":"eu"}"#;
    let answer = call(&server, "routed", twice, "Mcp-Param-Region: eu\r\n").await;
    let outcome = &answer.json()["result"]["_meta"][OUTCOME];
    assert_eq!(outcome["status"], "invalid_arguments", "{}", answer.body);
}
