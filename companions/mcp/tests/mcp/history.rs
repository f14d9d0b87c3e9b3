//! Conditions over the earlier calls of a client: a session is a run, and a client without one has none.

use std::collections::HashMap;
use std::sync::Mutex;

use contract_mcp::Server;
use contract_runtime::Run;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use super::line::Client;
use super::web::{self, call};

/// Find the order.
#[tool(read_only)]
fn find_order() -> u32 {
    7
}

/// Refund the order, once and after a look.
#[tool(destructive)]
#[pre(history().seen(find_order), "find the order first")]
#[pre(history().count(refund) < 1, "it was refunded")]
fn refund() -> u32 {
    40
}

/// Say hello.
#[tool(read_only)]
fn hello() -> u32 {
    1
}

fn server() -> Server {
    let builder = Registry::builder()
        .tool(find_order)
        .tool(refund)
        .tool(hello);
    Server::new(builder.build().unwrap())
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn the_connection_of_a_client_over_streams_is_a_run() {
    let mut client = Client::with(|_| server(), 1 << 16);
    client.begin().await;
    client
        .say(json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}).to_string())
        .await;
    assert_eq!(
        names(&client.hear().await),
        ["find_order", "hello", "refund"]
    );
    for (tool, said) in [
        ("refund", "find the order first"),
        ("find_order", "7"),
        ("refund", "40"),
        ("refund", "it was refunded"),
    ] {
        client.call(1, tool, json!({})).await;
        assert!(text(&client.hear().await).contains(said), "{tool}");
    }
}

#[tokio::test]
async fn each_session_over_http_is_a_run() {
    let shared = Run::new();
    let web = web::Server::start(server().run(&shared));
    for _ in 0..2 {
        let session = web.session().await.ok().unwrap();
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let list = web.november(&session, &list).await.json();
        assert_eq!(names(&list), ["find_order", "hello", "refund"]);
        for (tool, said) in [
            ("refund", "find the order first"),
            ("find_order", "7"),
            ("refund", "40"),
            ("refund", "it was refunded"),
        ] {
            let answer = web.november(&session, &call(1, tool)).await.json();
            assert!(text(&answer).contains(said), "{tool} {answer}");
        }
    }
    // The run of the server counts what happens in all of them.
    assert_eq!(shared.counts().violated, 4);
}

#[tokio::test]
async fn a_client_without_a_session_is_not_offered_what_depends_on_earlier_calls() {
    // Not even where all calls are part of one run: its calls are those of strangers.
    for server in [server(), server().run(&Run::new())] {
        let web = web::Server::start(server.page(1));
        let list = web.july("tools/list", json!({}), "").await.json();
        assert_eq!(names(&list), ["find_order"]);
        let next = json!({"cursor": list["result"]["nextCursor"]});
        let list = web.july("tools/list", next, "").await.json();
        assert_eq!(names(&list), ["hello"]);
        assert_eq!(list["result"].get("nextCursor"), None);
        for _ in 0..2 {
            let found = web
                .july("tools/call", json!({"name": "find_order"}), "")
                .await;
            assert_eq!(text(&found.json()), "7");
            let refused = web
                .july("tools/call", json!({"name": "refund"}), "")
                .await
                .json();
            assert!(
                text(&refused).contains("this call belongs to none"),
                "{refused}"
            );
        }
    }
}

#[tokio::test]
async fn a_program_may_give_each_principal_a_run() {
    let users: Mutex<HashMap<String, Run>> = Mutex::default();
    let web = web::Server::start(server().run_of(move |asked| {
        let user = asked.header("x-user")?.to_owned();
        Some(users.lock().unwrap().entry(user).or_default().clone())
    }));
    for user in ["x-user: ada\r\n", "x-user: bob\r\n"] {
        let list = web.july("tools/list", json!({}), user).await.json();
        assert_eq!(names(&list), ["find_order", "hello", "refund"]);
        for (tool, said) in [
            ("refund", "find the order first"),
            ("find_order", "7"),
            ("refund", "40"),
            ("refund", "it was refunded"),
        ] {
            let answer = web
                .july("tools/call", json!({"name": tool}), user)
                .await
                .json();
            assert!(text(&answer).contains(said), "{tool} {answer}");
        }
    }
    let stranger = web.july("tools/list", json!({}), "").await.json();
    assert_eq!(names(&stranger), ["find_order", "hello"]);
}
