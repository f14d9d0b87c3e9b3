use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::tools::within;
use super::web::{Server, call};

const OUTCOME: &str = "rs.docs.contract-runtime/outcome";

#[tokio::test]
async fn the_newer_revision_is_answered_request_by_request() {
    let (server, _) = Server::with(|server| server);
    server.lives().await;
    let params = json!({"name": "divide", "arguments": {"dividend": 1, "divisor": 0}});
    let answer = server.july("tools/call", params, "").await;
    assert_eq!(answer.status, 200);
    let answer = answer.json();
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["_meta"][OUTCOME]["status"], "violation");
    let answer = server.july("tools/list", json!({}), "").await.json();
    assert_eq!(answer["result"]["ttlMs"], 0);
}

#[tokio::test]
async fn the_older_revision_has_sessions() {
    let (server, _) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let answer = server.november(&session, &call(1, "point")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["result"]["structuredContent"]["x"], 1);
    assert_eq!(
        server.november("nobody", &call(1, "point")).await.status,
        404
    );
    let delete = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n\r\n",
        server.address
    );
    assert_eq!(server.raw(delete.as_bytes()).await.status, 204);
    assert_eq!(
        server.november(&session, &call(1, "point")).await.status,
        404
    );
}

#[tokio::test]
async fn arguments_are_judged_as_they_were_written_over_http_too() {
    let (server, _) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"same","arguments":{"number":1,"number":2}}}"#;
    let headers = format!("Mcp-Session-Id: {session}\r\n");
    let answer = server
        .raw(server.post(&headers, body).as_bytes())
        .await
        .json();
    assert_eq!(
        answer["result"]["_meta"][OUTCOME]["status"], "invalid_arguments",
        "{answer}"
    );
    let body = body.replace(
        r#"{"number":1,"number":2}"#,
        r#"{"number":18446744073709551615}"#,
    );
    let answer = server
        .raw(server.post(&headers, &body).as_bytes())
        .await
        .json();
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "18446744073709551615"
    );
}

#[tokio::test]
async fn who_leaves_stops_the_call_in_the_newer_revision() {
    let (server, seen) = Server::with(|server| server);
    for progress in [json!({}), json!({"progressToken": 1})] {
        let mut stream = server.connect().await;
        let params = json!({"name": "wait", "_meta": progress});
        let text = server.july_text("tools/call", params, "");
        stream.write_all(text.as_bytes()).await.unwrap();
        seen.begun().await;
        drop(stream);
        seen.dropped().await;
    }
    server.lives().await;
}

#[tokio::test]
async fn who_leaves_does_not_stop_the_call_in_the_older_revision() {
    let (server, seen) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let mut stream = server.connect().await;
    let headers = format!("Mcp-Session-Id: {session}\r\n");
    let text = server.post(&headers, &call(5, "wait").to_string());
    stream.write_all(text.as_bytes()).await.unwrap();
    seen.begun().await;
    drop(stream);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    // It is still there to be cancelled, as that revision wants it.
    assert_eq!(server.november(&session, &cancel).await.status, 202);
    seen.dropped().await;
}

#[tokio::test]
async fn reports_are_events_before_the_result() {
    let (server, _) = Server::with(|server| server);
    let params =
        json!({"name": "report", "arguments": {"times": 3}, "_meta": {"progressToken": "p"}});
    let answer = server.july("tools/call", params, "").await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events: Vec<serde_json::Value> = answer
        .body
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok())
        .collect();
    let done: Vec<_> = events
        .iter()
        .filter_map(|one| one["params"]["progress"].as_f64())
        .collect();
    assert_eq!(done, [1.0, 2.0, 3.0], "{}", answer.body);
    assert_eq!(events.last().unwrap()["result"]["content"][0]["text"], "3");
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let (server, seen) = Server::with(|server| server);
    let registry = super::tools::registry(&seen).unwrap();
    let error = contract_mcp::Server::new(registry)
        .bind(server.address)
        .unwrap_err();
    assert!(
        error.to_string().contains(&server.address.to_string()),
        "{error}"
    );
    server.stop.cancel();
    within(server.served).await.unwrap().unwrap();
}
