use serde_json::{Value, json};

use super::line::{Client, SHORT, july};
use super::tools::within;

#[tokio::test]
async fn answers_come_as_calls_end_and_not_as_they_began() {
    let mut client = Client::new();
    client.begin().await;
    client.call(1, "wait", json!({})).await;
    client.seen.begun().await;
    client
        .call(2, "divide", json!({"dividend": 6, "divisor": 3}))
        .await;
    assert_eq!(client.hear().await["id"], 2);
    client.seen.0.go.notify_one();
    let answer = client.hear().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["content"][0]["text"], "gone");
}

#[tokio::test]
async fn a_cancelled_call_stops_and_is_not_answered() {
    for newer in [false, true] {
        let mut client = Client::new();
        if newer {
            client
                .say(july("c", "tools/call", json!({"name": "wait"})).to_string())
                .await;
        } else {
            client.begin().await;
            client.call("c", "wait", json!({})).await;
        }
        client.seen.begun().await;
        for id in ["nobody", "c", "c"] {
            client
                .say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string())
                .await;
        }
        client.seen.dropped().await;
        // The next thing that is said is the answer to the next question; and the id is free again.
        let next = july("c", "tools/call", json!({"name": "point"})).to_string();
        client.say(next).await;
        let answer = client.hear().await;
        assert_eq!(answer["result"]["structuredContent"]["x"], 1, "{answer}");
    }
}

#[tokio::test]
async fn a_cancellation_that_races_with_the_end_leaves_one_answer_or_none() {
    let mut client = Client::new();
    client.begin().await;
    for id in 0..200 {
        client
            .call(id, "divide", json!({"dividend": 1, "divisor": 1}))
            .await;
        client
            .say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string())
            .await;
    }
    client
        .say(r#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#)
        .await;
    let mut answered = std::collections::HashSet::new();
    // A ping may overtake the answers of calls before it, so the end of the input tells when all have come.
    client.close().await;
    while let Some(line) = within(client.read.next_line()).await.unwrap() {
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answered.insert(answer["id"].to_string()), "{answer}");
    }
    assert!(answered.contains("\"last\""));
    within(client.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_id_in_use_is_refused_without_taking_the_answer_of_its_owner() {
    let mut client = Client::new();
    client.begin().await;
    client.call(1, "wait", json!({})).await;
    client.seen.begun().await;
    client.call(1, "point", json!({})).await;
    let refused = client.hear().await;
    assert_eq!(refused.get("id"), None, "{refused}");
    assert_eq!(refused["error"]["code"], -32600);
    client.seen.0.go.notify_one();
    let answer = client.hear().await;
    assert_eq!(answer["result"]["content"][0]["text"], "gone");
    client.lives().await;
}

#[tokio::test]
async fn more_calls_than_the_limit_are_told_so_and_hold_nothing() {
    let mut client = Client::with(|server| server.calls(2), 1 << 16);
    client.begin().await;
    for id in 1..=2 {
        client.call(id, "wait", json!({})).await;
        client.seen.begun().await;
    }
    for id in 3..=5 {
        client.call(id, "point", json!({})).await;
        let answer = client.hear().await;
        assert_eq!(answer["result"]["isError"], true);
        let meta = &answer["result"]["_meta"]["rs.docs.contract-runtime/outcome"];
        assert_eq!(meta["status"], "overloaded");
    }
    client.seen.0.go.notify_one();
    client.hear().await;
    client.call(6, "point", json!({})).await;
    assert_eq!(client.hear().await["result"]["isError"], false);
}

#[tokio::test]
async fn when_the_client_goes_running_calls_are_answered_in_their_time_of_grace() {
    let mut client = Client::new();
    client.begin().await;
    client.call(1, "wait", json!({})).await;
    client.seen.begun().await;
    client.close().await;
    client.seen.0.go.notify_one();
    let answer = client.hear().await;
    assert_eq!(answer["result"]["content"][0]["text"], "gone");
    within(client.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn when_the_client_goes_calls_that_go_on_are_cancelled() {
    for name in ["wait", "block"] {
        let in_full = |server: contract_mcp::Server| server.grace(SHORT).list_contracts();
        let mut client = Client::with(in_full, 1 << 16);
        client.begin().await;
        client.call(1, name, json!({})).await;
        client.seen.begun().await;
        client.close().await;
        client.seen.dropped().await;
        let answer = client.hear().await;
        let meta = &answer["result"]["_meta"]["rs.docs.contract-runtime/outcome"];
        assert_eq!(meta["status"], "cancelled", "{answer}");
        assert_eq!(meta.get("may_still_be_running").is_some(), name == "block");
        within(client.serving).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_dropped_stops_its_calls() {
    let mut client = Client::new();
    client.begin().await;
    client.call(1, "wait", json!({})).await;
    client.seen.begun().await;
    client.serving.abort();
    client.seen.dropped().await;
}

#[tokio::test]
async fn a_server_that_corrects_arguments_reads_what_clients_write_as_text() {
    for (corrects, is_error) in [(true, false), (false, true)] {
        let mut client = Client::with(|server| server.coerce(corrects), 1 << 16);
        client.begin().await;
        let texts = json!({"dividend": "6", "divisor": "3"});
        client.call(1, "divide", texts).await;
        let answer = client.hear().await;
        assert_eq!(
            answer["result"]["isError"] == json!(true),
            is_error,
            "{answer}"
        );
    }
}
