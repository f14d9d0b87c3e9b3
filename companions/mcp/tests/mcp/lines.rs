use proptest::prelude::*;
use serde_json::{Value, json};

use super::line::Client;
use super::tools::within;

#[tokio::test]
async fn what_is_no_message_is_answered_and_ends_nothing() {
    let mut client = Client::new();
    // Also before anything has begun.
    for round in 0..2 {
        for (line, code, id) in [
            ("garbage", -32700, None),
            ("{\"jsonrpc\":\"2.0\",", -32700, None),
            ("[]", -32600, None),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                -32600,
                None,
            ),
            ("5", -32600, None),
            ("{}", -32600, None),
            (
                r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#,
                -32600,
                Some(json!(4)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                -32600,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                -32600,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
                -32600,
                None,
            ),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, None),
            (
                r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#,
                -32600,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
                -32600,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#,
                -32602,
                Some(json!(5)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}"#,
                -32602,
                Some(json!(5)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}"#,
                -32602,
                Some(json!(5)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"point","arguments":[]}}"#,
                -32602,
                Some(json!(5)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"point","name":"many"}}"#,
                -32602,
                Some(json!(5)),
            ),
        ] {
            client.say(line).await;
            let answer = client.hear().await;
            assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
            assert_eq!(answer.get("id"), id.as_ref(), "{line}: {answer}");
        }
        // Nobody asked, so nobody is answered.
        for line in [
            "",
            "   ",
            r#"{"jsonrpc":"2.0","method":"notifications/nothing"}"#,
            r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
        ] {
            client.say(line).await;
        }
        client.lives().await;
        if round == 0 {
            client.begin().await;
        }
    }
    client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/burn"}"#)
        .await;
    assert_eq!(client.hear().await["error"]["code"], -32601);
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut client = Client::new();
    client.begin().await;
    let long = "i".repeat(100_000);
    for id in [
        json!(0),
        json!(-7),
        json!(i64::MAX),
        json!(""),
        json!("\u{0}\n\"é"),
        json!(long),
    ] {
        client.call(id.clone(), "point", json!({})).await;
        assert_eq!(client.hear().await["id"], id);
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_passed_over() {
    let mut client = Client::with(|server| server.message_bytes(1000), 1 << 16);
    client.begin().await;
    for length in [1001, 200_000, 5_000_000] {
        client.say("x".repeat(length)).await;
        let answer = client.hear().await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        client.lives().await;
    }
    let mut fits = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned();
    fits.push_str(&" ".repeat(999 - fits.len()));
    client.say(fits).await;
    assert_eq!(client.hear().await["id"], 1);
}

#[tokio::test]
async fn the_last_line_needs_no_end() {
    use tokio::io::AsyncWriteExt as _;
    let mut client = Client::new();
    client.begin().await;
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"point"}}"#;
    client.write.write_all(line).await.unwrap();
    client.close().await;
    assert_eq!(client.hear().await["result"]["structuredContent"]["x"], 1);
    within(client.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_never_speaks_is_no_fault() {
    let mut client = Client::new();
    client.close().await;
    within(client.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_no_request_is_passed_over_until_the_protocol_has_begun() {
    let first = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": 5, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
        }}),
    ];
    let stray = [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}),
    ];
    for first in &first {
        let mut client = Client::new();
        client.say(first.to_string()).await;
        assert_eq!(client.hear().await["id"], 1, "{first}");
        for stray in &stray {
            client.say(stray.to_string()).await;
            client.lives().await;
        }
        let begun = client.begin().await;
        assert_eq!(begun["result"]["protocolVersion"], "2025-11-25", "{begun}");
        client.call(2, "point", json!({})).await;
        assert_eq!(client.hear().await["id"], 2);
        client.lives().await;
    }
}

/// Bytes that look like the protocol, more or less.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(r#"{"jsonrpc":"2.0","#.to_owned()),
        Just(r#""id":1,"#.to_owned()),
        Just(
            r#""method":"tools/call","params":{"name":"divide","arguments":{"dividend":1"#
                .to_owned()
        ),
        Just(r#""method":"notifications/cancelled","params":{"requestId":1}}"#.to_owned()),
        Just(r#""_meta":{"progressToken":[1]},"#.to_owned()),
        Just("}".to_owned()),
        Just("{\"a\":".repeat(300)),
        Just("[".repeat(300)),
        "[ -~]{0,12}",
        any::<String>(),
    ];
    let text =
        proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![text, proptest::collection::vec(any::<u8>(), 0..80)].prop_map(|mut line| {
        line.retain(|byte| *byte != b'\n');
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_that_is_sent_ends_the_server(lines in proptest::collection::vec(line(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut client = Client::with(|server| server, 1 << 22);
            client.begin().await;
            for line in &lines {
                client.say(line).await;
            }
            client.say(r#"{"jsonrpc":"2.0","id":"after all","method":"ping"}"#).await;
            client.close().await;
            let mut pinged = 0;
            while let Some(line) = within(client.read.next_line()).await.unwrap() {
                let answer: Value = serde_json::from_str(&line).expect("every line is JSON");
                pinged += usize::from(answer["id"] == "after all");
            }
            assert_eq!(pinged, 1);
            within(client.serving).await.unwrap().unwrap();
        });
    }
}
