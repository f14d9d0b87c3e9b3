//! What clients of each revision with a handshake are told, over streams and over HTTP, and nothing that their revision
//! does not know.

use serde_json::{Value, json};

use super::line::Client;
use super::web::{Answer, Server, call};

/// Oldest first.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn named(server: contract_mcp::Server) -> contract_mcp::Server {
    server.title("Sums").website("https://example.com")
}

async fn ask(client: &mut Client, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    client.say(request.to_string()).await;
    client.hear().await["result"].take()
}

fn tool<'v>(listed: &'v Value, name: &str) -> &'v Value {
    let tools = listed["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap()
}

#[tokio::test]
async fn every_revision_with_a_handshake_is_answered_in_itself() {
    for revision in REVISIONS {
        let mut client = Client::with(named, 1 << 16);
        let begun = client.begin_with(revision).await["result"].take();
        assert_eq!(begun["protocolVersion"], revision);
        let server = &begun["serverInfo"];
        assert_eq!(server.get("title").is_some(), revision >= "2025-06-18");
        assert_eq!(server.get("websiteUrl").is_some(), revision >= "2025-11-25");
        client.lives().await;
    }
    for unknown in [
        "2023-01-01",
        "2025-07-01",
        "2026-07-28",
        "2099-01-01",
        "soon",
    ] {
        let begun = Client::new().begin_with(unknown).await;
        assert_eq!(
            begun["result"]["protocolVersion"], "2025-11-25",
            "{unknown}"
        );
    }
}

#[tokio::test]
async fn a_tool_is_listed_with_what_its_revision_knows() {
    for revision in REVISIONS {
        let mut client = Client::with(contract_mcp::Server::list_contracts, 1 << 16);
        client.begin_with(revision).await;
        let listed = ask(&mut client, "tools/list", json!({})).await;
        let mut keys: Vec<_> = tool(&listed, "point").as_object().unwrap().keys().collect();
        keys.sort();
        let expected: &[&str] = match revision {
            "2024-11-05" => &["description", "inputSchema", "name"],
            "2025-03-26" => &["annotations", "description", "inputSchema", "name"],
            _ => &[
                "annotations",
                "description",
                "inputSchema",
                "name",
                "outputSchema",
            ],
        };
        assert_eq!(keys, expected, "{revision}");
        // The contract as data.
        let divide = tool(&listed, "divide");
        assert_eq!(divide.get("_meta").is_some(), revision >= "2025-06-18");
        assert_eq!(
            divide["inputSchema"]["properties"]["divisor"]["type"],
            "integer"
        );
    }
}

#[tokio::test]
async fn a_result_holds_what_its_revision_knows() {
    for revision in REVISIONS {
        let mut client = Client::new();
        client.begin_with(revision).await;
        let point = ask(&mut client, "tools/call", json!({"name": "point"})).await;
        assert_eq!(point["isError"], false, "{revision}: {point}");
        let text = point["content"][0]["text"].as_str().unwrap();
        let read: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read, json!({"x": 1, "y": null}));
        let structured = (revision >= "2025-06-18").then_some(&read);
        assert_eq!(point.get("structuredContent"), structured, "{revision}");

        let gallery = ask(&mut client, "tools/call", json!({"name": "gallery"})).await;
        let expected = if revision >= "2025-03-26" {
            json!({"type": "audio", "data": "BA==", "mimeType": "audio/wav"})
        } else {
            json!({"type": "resource", "resource": {
                "uri": "attachment:///beep.wav", "mimeType": "audio/wav", "blob": "BA==",
            }})
        };
        assert_eq!(gallery["content"][3], expected, "{revision}");

        let params = json!({"name": "divide", "arguments": {"dividend": 1, "divisor": 0}});
        let violation = ask(&mut client, "tools/call", params).await;
        assert_eq!(violation["isError"], true);
        let text = violation["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("cannot divide by zero"), "{text}");
    }
}

#[tokio::test]
async fn a_result_that_was_cut_is_no_error_where_nothing_is_promised() {
    let mut client = Client::new();
    client.begin_with("2025-03-26").await;
    let params = json!({"name": "long", "arguments": {"letters": 200_000}});
    let long = ask(&mut client, "tools/call", params).await;
    assert_eq!(long["isError"], false);
    let text = long["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("characters left out"), "{}", text.len());
}

#[tokio::test]
async fn a_report_has_a_message_where_its_revision_knows_one() {
    for revision in REVISIONS {
        let mut client = Client::new();
        client.begin_with(revision).await;
        let params =
            json!({"name": "report", "arguments": {"times": 1}, "_meta": {"progressToken": "p"}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        client.say(request.to_string()).await;
        let report = client.hear().await["params"].take();
        assert_eq!(report["progress"], 1.0);
        let message = (revision >= "2025-03-26").then_some(&Value::Null);
        assert_eq!(
            report.get("message").map(|_| &Value::Null),
            message,
            "{revision}"
        );
        assert_eq!(client.hear().await["id"], 1);
    }
}

/// The events of a stream as they were sent: an empty one too.
fn events(answer: &Answer) -> Vec<&str> {
    let data = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    data.map(str::trim).collect()
}

#[tokio::test]
async fn sessions_over_http_speak_their_revision() {
    let (server, _) = Server::with(|server| server);
    for revision in REVISIONS {
        let begun = server.initialize(revision).await;
        assert_eq!(begun.status, 200);
        assert_eq!(begun.json()["result"]["protocolVersion"], revision);
        let session = begun.header("mcp-session-id").unwrap();
        // The header is one of 2025-06-18.
        let version = if revision >= "2025-06-18" {
            format!("MCP-Protocol-Version: {revision}\r\n")
        } else {
            String::new()
        };
        let headers = format!("{version}Mcp-Session-Id: {session}\r\n");
        let answer = server
            .raw(
                server
                    .post(&headers, &call(1, "point").to_string())
                    .as_bytes(),
            )
            .await;
        assert_eq!(answer.status, 200, "{revision}: {}", answer.body);
        let result = answer.json()["result"].take();
        assert_eq!(result["content"][0]["type"], "text");
        let is_structured = result.get("structuredContent").is_some();
        assert_eq!(is_structured, revision >= "2025-06-18", "{revision}");
        // Older clients read every event as a message, and an empty one is none.
        let is_primed = events(&answer).contains(&"");
        assert_eq!(
            is_primed,
            revision >= "2025-11-25",
            "{revision}: {}",
            answer.body
        );
        assert!(!events(&begun).contains(&""), "{}", begun.body);
    }
}

#[tokio::test]
async fn a_version_in_a_header_is_one_that_is_spoken() {
    let (server, _) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    for (version, status) in [("2025-06-18", 200), ("2025-06-19", 400), ("soon", 400)] {
        let headers = format!("MCP-Protocol-Version: {version}\r\nMcp-Session-Id: {session}\r\n");
        let text = server.post(&headers, &call(1, "point").to_string());
        assert_eq!(
            server.raw(text.as_bytes()).await.status,
            status,
            "{version}"
        );
    }
}

#[tokio::test]
async fn a_batch_is_refused_by_an_error_that_says_so() {
    let why = "JSON-RPC batches are not supported; send each message on its own";
    for revision in REVISIONS {
        let mut client = Client::new();
        client.begin_with(revision).await;
        client.say(json!([call(1, "point")]).to_string()).await;
        let answer = client.hear().await;
        assert_eq!(answer["error"]["code"], -32600, "{revision}: {answer}");
        assert_eq!(answer["error"]["message"], why, "{revision}");
        client.lives().await;
        let (server, _) = Server::with(|server| server);
        let begun = server.initialize(revision).await;
        let headers = format!(
            "Mcp-Session-Id: {}\r\n",
            begun.header("mcp-session-id").unwrap()
        );
        let text = server.post(&headers, &json!([call(1, "point")]).to_string());
        let answer = server.raw(text.as_bytes()).await;
        assert_eq!(answer.status, 400, "{revision}");
        assert_eq!(answer.json()["error"]["code"], -32600, "{revision}");
        assert_eq!(answer.json()["error"]["message"], why, "{revision}");
    }
}

/// JSON-RPC 2.0, section 5: `null`, where the id of a request cannot be read. Revision 2025-11-25 leaves it out.
#[tokio::test]
async fn an_error_that_answers_no_request_has_the_id_of_its_revision() {
    let unreadable = [
        "garbage".to_owned(),
        "5".to_owned(),
        "{}".to_owned(),
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_owned(),
        r#"[{"jsonrpc":"2.0",]"#.to_owned(),
    ];
    let too_long = " ".repeat(70_000);
    for revision in REVISIONS {
        let id = (revision < "2025-11-25").then_some(&Value::Null);
        let mut client = Client::with(|server| server.message_bytes(1 << 16), 1 << 16);
        client.begin_with(revision).await;
        let running = call(1, "wait").to_string();
        client.say(&running).await;
        client.seen.begun().await;
        for line in unreadable.iter().chain([&too_long, &running]) {
            client.say(line).await;
            let answer = client.hear().await;
            assert_eq!(answer.get("id"), id, "{revision}: {answer}");
            assert!(answer["error"]["code"].is_i64());
        }
        // What has an id keeps it.
        client
            .say(r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#)
            .await;
        assert_eq!(client.hear().await["id"], 4);

        let (server, _) = Server::with(|server| server);
        let begun = server.initialize(revision).await;
        let session = begun.header("mcp-session-id").unwrap();
        let headers = format!("Mcp-Session-Id: {session}\r\n");
        for body in &unreadable {
            let text = server.post(&headers, body);
            let answer = server.raw(text.as_bytes()).await;
            assert_eq!(answer.status, 400);
            let answer = answer.json();
            assert_eq!(answer.get("id"), id, "{revision}: {answer}");
        }
    }
}
