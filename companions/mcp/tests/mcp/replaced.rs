//! Tools that are replaced while they are served.

use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::line::{Client, july};
use super::tools::{Seen, divide, point, wait, within};
use super::web;

fn of_divide() -> Registry {
    Registry::builder().tool(divide).build().unwrap()
}

fn of_point() -> Registry {
    Registry::builder().tool(point).build().unwrap()
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

#[tokio::test]
async fn a_client_over_streams_is_told_and_lists_the_new_tools() {
    let server = contract_mcp::Server::new(of_divide());
    let tools = server.tools();
    let mut client = Client::of(server, 1 << 16, Seen::default());
    let begun = client.begin().await;
    assert_eq!(
        begun["result"]["capabilities"]["tools"]["listChanged"],
        true
    );
    client.lives().await;
    tools.replace(of_point()).unwrap();
    assert_eq!(
        client.hear().await["method"],
        "notifications/tools/list_changed"
    );
    client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .await;
    assert_eq!(names(&client.hear().await), ["point"]);
    client.call(2, "point", json!({})).await;
    assert_eq!(client.hear().await["result"]["isError"], false);
    client.call(3, "divide", json!({})).await;
    assert_eq!(client.hear().await["error"]["code"], -32602);
    let names: Vec<_> = tools
        .registry()
        .tools()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(names, ["point"]);
}

#[tokio::test]
async fn a_server_whose_tools_nobody_can_replace_promises_no_notification() {
    let server = contract_mcp::Server::new(of_divide());
    let mut client = Client::of(server, 1 << 16, Seen::default());
    let begun = client.begin().await;
    let capabilities = &begun["result"]["capabilities"];
    assert_eq!(capabilities["tools"], json!({}), "{capabilities}");
    let listen = july(
        1,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let server = contract_mcp::Server::new(of_divide());
    let mut client = Client::of(server, 1 << 16, Seen::default());
    client.say(listen.to_string()).await;
    assert_eq!(client.hear().await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_client_of_the_newer_revision_is_told_if_it_has_subscribed() {
    let server = contract_mcp::Server::new(of_divide());
    let tools = server.tools();
    let mut client = Client::of(server, 1 << 16, Seen::default());
    let listen = july(
        7,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    client.say(listen.to_string()).await;
    let acknowledged = client.hear().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    tools.replace(of_point()).unwrap();
    let told = client.hear().await;
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
    client
        .say(july(8, "tools/list", json!({})).to_string())
        .await;
    assert_eq!(names(&client.hear().await), ["point"]);
}

#[tokio::test]
async fn a_call_goes_on_with_the_tools_that_it_began_with() {
    let seen = Seen::default();
    let registry = Registry::builder()
        .tool(wait)
        .context(seen.clone())
        .build()
        .unwrap();
    let server = contract_mcp::Server::new(registry);
    let tools = server.tools();
    let mut client = Client::of(server, 1 << 16, seen.clone());
    client.begin().await;
    client.call(1, "wait", json!({})).await;
    seen.begun().await;
    tools.replace(of_point()).unwrap();
    assert_eq!(
        client.hear().await["method"],
        "notifications/tools/list_changed"
    );
    seen.0.go.notify_one();
    let answer = client.hear().await;
    assert_eq!(answer["result"]["content"][0]["text"], "gone");
    // A plain text is sent once.
    assert_eq!(answer["result"].get("structuredContent"), None);
}

#[tokio::test]
async fn a_server_that_was_cloned_has_the_same_tools() {
    let server = contract_mcp::Server::new(of_divide());
    let tools = server.tools();
    let clone = server.clone();
    tools.replace(of_point()).unwrap();
    let mut client = Client::of(clone, 1 << 16, Seen::default());
    client.begin().await;
    client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .await;
    assert_eq!(names(&client.hear().await), ["point"]);
}

#[tokio::test]
async fn a_session_over_http_is_told_on_its_own_stream_even_if_it_opens_late() {
    let server = contract_mcp::Server::new(of_divide());
    let tools = server.tools();
    let server = web::Server::start(server);
    let session = server.session().await.ok().unwrap();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.november(&session, &initialized).await.status, 202);
    server.november(&session, &web::call(1, "divide")).await;
    tools.replace(of_point()).unwrap();
    let stream = async |last: &str| {
        let mut stream = server.connect().await;
        let text = format!(
            "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n{last}\r\n",
            server.address
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut heard = String::new();
        let mut piece = [0; 4096];
        within(async {
            while !heard.contains("tools/list_changed") {
                let read = stream.read(&mut piece).await.unwrap();
                assert_ne!(read, 0, "{heard}");
                heard.push_str(&String::from_utf8_lossy(&piece[..read]));
            }
        })
        .await;
        heard
    };
    let heard = stream("").await;
    assert!(heard.contains("id: 0"), "{heard}");
    // Who has heard only the beginning of a stream has missed it, too.
    stream("Last-Event-ID: 0\r\n").await;
}
