//! What a body says to people while its call runs.

use contract_runtime::LogLevel;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use super::line::{Client, july};
use super::tools::Seen;
use super::web::{Server, call};

/// Talk about it.
#[tool(read_only)]
pub(crate) fn talk(#[context] log: &Log) -> u8 {
    log.log(LogLevel::Debug, "details");
    log.info("one thing");
    log.error("another thing");
    3
}

/// Talk for long.
#[tool(read_only)]
pub(crate) fn babble(#[context] log: &Log, times: u32) -> u32 {
    for time in 0..times {
        log.info(format_args!("{time} {}", "x".repeat(20_000)));
    }
    times
}

/// Call for help for long.
#[tool(read_only)]
pub(crate) fn cry(#[context] log: &Log, times: u32) -> u32 {
    for _ in 0..times {
        log.log(LogLevel::Alert, "help");
    }
    times
}

fn server() -> contract_mcp::Server {
    let tools = Registry::builder().tool(talk).tool(babble).tool(cry);
    let registry = tools.build();
    contract_mcp::Server::new(registry.unwrap())
}

async fn begun() -> Client {
    let mut client = Client::of(server(), 1 << 16, Seen::default());
    let begun = client.begin().await;
    assert_eq!(begun["result"]["capabilities"]["logging"], json!({}));
    client
}

/// What is heard before the answer to a call.
async fn heard(client: &mut Client) -> Vec<Value> {
    let mut messages = Vec::new();
    loop {
        let message = client.hear().await;
        if message.get("id").is_some() {
            assert_eq!(message["result"]["isError"], false, "{message}");
            return messages;
        }
        messages.push(message);
    }
}

fn texts(messages: &[Value]) -> Vec<&str> {
    let texts = messages.iter().map(|one| one["params"]["data"].as_str());
    texts.flatten().collect()
}

#[tokio::test]
async fn a_client_hears_what_matters_enough_before_the_result() {
    let mut client = begun().await;
    client.call(1, "talk", json!({})).await;
    let messages = heard(&mut client).await;
    assert_eq!(texts(&messages), ["one thing", "another thing"]);
    assert_eq!(messages[1]["method"], "notifications/message");
    assert_eq!(messages[1]["params"]["level"], "error");
    assert_eq!(messages[1]["params"]["logger"], "talk");
    for (level, expected) in [
        ("debug", &["details", "one thing", "another thing"][..]),
        ("error", &["another thing"]),
        ("emergency", &[]),
    ] {
        let params = json!({"level": level});
        client
            .say(
                json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": params})
                    .to_string(),
            )
            .await;
        assert_eq!(client.hear().await["result"], json!({}));
        client.call(3, "talk", json!({})).await;
        assert_eq!(texts(&heard(&mut client).await), expected, "{level}");
    }
    for params in [json!({"level": "loud"}), json!({})] {
        let request =
            json!({"jsonrpc": "2.0", "id": 4, "method": "logging/setLevel", "params": params});
        client.say(request.to_string()).await;
        let answer = client.hear().await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn a_client_of_the_newer_revision_hears_what_each_request_asks_for() {
    let mut client = Client::of(server(), 1 << 16, Seen::default());
    let request = july(1, "tools/call", json!({"name": "talk"}));
    client.say(request.to_string()).await;
    assert!(heard(&mut client).await.is_empty());
    let mut request = july(2, "tools/call", json!({"name": "talk"}));
    request["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("warning");
    client.say(request.to_string()).await;
    assert_eq!(texts(&heard(&mut client).await), ["another thing"]);
    // That revision has these no more, whatever their parameters.
    for method in [
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        for params in [json!({"level": "debug", "uri": "a:b"}), json!({})] {
            client.say(july(3, method, params).to_string()).await;
            let answer = client.hear().await;
            assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_body_that_talks_without_end_fills_no_memory() {
    let mut client = begun().await;
    client.call(1, "babble", json!({"times": 100_000})).await;
    let messages = heard(&mut client).await;
    assert!(messages.len() < 1_000, "{}", messages.len());
    let texts = texts(&messages);
    // Each is cut, and what was left out is counted.
    assert!(texts[0].ends_with('…') && texts[0].chars().count() == 10_001);
    let last = texts.last().unwrap();
    assert!(last.ends_with(" more messages were left out"), "{last}");
}

#[tokio::test]
async fn how_many_were_left_out_is_said_at_the_level_that_is_wanted() {
    let mut client = begun().await;
    let level = json!({"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "alert"}});
    client.say(level.to_string()).await;
    client.hear().await;
    client.call(2, "cry", json!({"times": 100_000})).await;
    let messages = heard(&mut client).await;
    let last = texts(&messages).pop().unwrap_or_default();
    assert!(last.ends_with(" more messages were left out"), "{last}");
    let quieter = messages
        .iter()
        .find(|one| one["params"]["level"] != "alert");
    assert_eq!(quieter, None);
}

#[tokio::test]
async fn the_level_of_a_session_is_its_own() {
    let server = Server::start(server());
    let quiet = server.session().await.ok().unwrap();
    let other = server.session().await.ok().unwrap();
    let level = json!({"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "emergency"}});
    assert_eq!(server.november(&quiet, &level).await.status, 200);
    for (session, hears) in [(&quiet, false), (&other, true)] {
        assert_eq!(server.november(session, &call(2, "talk")).await.status, 200);
        // Its messages come on the stream of the session, from the first one on.
        let stop = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
        server.november(session, &stop).await;
        let text = format!(
            "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n",
            server.address
        );
        let mut stream = server.connect().await;
        let heard = super::resumed::quiet(&mut stream, &text, "another thing").await;
        assert_eq!(heard, hears, "{session}");
    }
}
