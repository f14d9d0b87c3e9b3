//! A server that means no good, or writes what nobody can read.

use std::time::Duration;

use contract_mcp::{ImportError, Importer};
use serde_json::{Value, json};

use crate::fake::{Fake, bare, call, refusal, result, text, within};

async fn refused(fake: Fake) -> ImportError {
    fake.import().await.map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn a_cursor_that_comes_again_ends_the_list() {
    let fake = Fake::new(json!([])).on("tools/list", |request| {
        vec![result(request, json!({"tools": [], "nextCursor": "again"}))]
    });
    let error = refused(fake).await;
    assert!(
        matches!(error, ImportError::Endless { pages: 2, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn ten_thousand_tools_are_enough() {
    let tools: Vec<_> = (0..=10_000).map(|n| bare(&format!("t{n}"))).collect();
    let error = refused(Fake::new(json!(tools))).await;
    assert!(matches!(error, ImportError::TooMany { .. }), "{error}");
}

#[tokio::test]
async fn tools_that_cannot_be_held_to_their_schemas_are_left_out_and_named() {
    let with = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema});
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"type": "array", "items": deep});
    }
    for _ in 0..5 {
        deep = json!({"anyOf": [deep]});
    }
    let chain: serde_json::Map<_, _> = (0..2_000)
        .map(|n| {
            (
                format!("d{n}"),
                json!({"items": {"$ref": format!("#/$defs/d{}", n + 1)}}),
            )
        })
        .collect();
    let tools = json!([
        bare("good"),
        with("remote", json!({"type": "object", "properties": {"a": {"$ref": "https://example.org/x"}}})),
        with("chain", json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain})),
        with("list", json!({"type": "array"})),
        with("huge", json!({"type": "object", "description": "x".repeat(1 << 20)})),
        with("unknown", json!({"type": "object", "unevaluatedItems": false, "$dynamicRef": "#a"})),
        {"name": "output", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "#/nowhere"}},
        with("deep", json!({"type": "object", "properties": {"a": deep}})),
    ]);
    let (imported, _heard) = Fake::new(tools).import().await.unwrap();
    let skipped: Vec<_> = imported
        .skipped()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(
        skipped[..6],
        ["remote", "chain", "list", "huge", "unknown", "output"]
    );
    assert!(imported.names().any(|name| name == "good"));
    assert!(
        imported.skipped()[0]
            .reason
            .contains("https://example.org/x")
    );
    assert!(
        imported
            .skipped()
            .iter()
            .all(|one| one.reason.len() < 2_000)
    );
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    for method in ["initialize", "tools/list"] {
        let (client, _heard) = Fake::new(json!([])).on(method, |_| Vec::new()).start();
        let importer = Importer::new().start_timeout(Duration::from_millis(300));
        let error = within(importer.import(client))
            .await
            .map(|_| ())
            .unwrap_err();
        assert!(matches!(error, ImportError::Timeout(_)), "{error}");
    }
}

#[tokio::test]
async fn an_answer_under_another_id_is_told_as_that() {
    for method in ["server/discover", "initialize"] {
        let answers: [fn(&Value) -> Value; 2] = [
            |request| {
                refusal(
                    &json!({"id": "o\u{1b}ther"}),
                    -32601,
                    request["method"].as_str().unwrap_or_default(),
                )
            },
            |_| json!({"jsonrpc": "2.0", "id": "o\u{1b}ther", "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "fake", "version": "1"}}}),
        ];
        for answer in answers {
            let error =
                refused(Fake::new(json!([])).on(method, move |request| vec![answer(request)]))
                    .await;
            let said = error.to_string();
            let found =
                "this is not a server of the Model Context Protocol: it answered the request `";
            assert!(said.starts_with(found), "{method}: {error:?}");
            assert!(
                said.ends_with(r"` under the id `o\u{1b}ther`"),
                "{method}: {said}"
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_refuses_to_begin_is_an_error() {
    let fake = Fake::new(json!([])).on("initialize", |_| vec![Value::Null]);
    let error = refused(fake).await;
    assert!(matches!(error, ImportError::Closed), "{error}");
    let fake = Fake::new(json!([])).on("initialize", |request| {
        vec![refusal(request, -32001, "the licence\u{1b}[2J has run out")]
    });
    let error = refused(fake).await;
    assert!(
        matches!(error, ImportError::Refused { code: -32001, .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "the server refused the handshake: the licence\\u{1b}[2J has run out (code -32001)",
    );
}

#[tokio::test]
async fn garbage_and_answers_to_nothing_are_passed_over() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |request| {
        vec![
            json!("not json"),
            json!("{}"),
            json!("[1,2]"),
            json!({"jsonrpc": "2.0", "id": 4_711, "result": {"content": []}}),
            json!({"jsonrpc": "2.0", "id": "x", "result": {"content": []}}),
            json!({"jsonrpc": "2.0", "method": "notifications/unheard_of"}),
            text(request, "right"),
            text(request, "twice"),
        ]
    });
    let (registry, _heard) = fake.registry().await;
    for _ in 0..3 {
        assert_eq!(call(&registry, "tool", "").await.output(), Some("right"));
    }
}

#[tokio::test]
async fn endless_progress_and_a_huge_result_are_bounded() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |request| {
        let token = &request["params"]["_meta"]["progressToken"];
        let report = |done| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": done, "message": "x".repeat(100)}});
        let mut answers: Vec<_> = (0..20_000).map(report).collect();
        answers.push(text(request, &"y".repeat(4 << 20)));
        answers
    });
    let (registry, _heard) = fake.registry().await;
    let outcome = call(&registry, "tool", "").await;
    assert!(outcome.output().unwrap().len() < 110_000);
}

#[tokio::test]
async fn what_a_server_asks_of_its_client_is_declined() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |request| {
        vec![
            json!({"jsonrpc": "2.0", "id": 900, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}),
            json!({"jsonrpc": "2.0", "id": 901, "method": "roots/list"}),
            text(request, "done"),
        ]
    });
    let (registry, _heard) = fake.registry().await;
    assert_eq!(call(&registry, "tool", "").await.output(), Some("done"));
}

#[tokio::test]
async fn what_is_no_tool_at_all_takes_no_other_with_it() {
    let tools = json!([
        bare("good"),
        {"name": "schemaless"},
        {"name": "odd", "inputSchema": true},
        7,
        bare("other"),
    ]);
    let (imported, _heard) = Fake::new(tools).import().await.unwrap();
    assert_eq!(imported.names().collect::<Vec<_>>(), ["good", "other"]);
    let skipped = imported.skipped().iter();
    let names: Vec<_> = skipped.map(|skipped| skipped.name.as_str()).collect();
    assert_eq!(names, ["schemaless", "odd", ""]);
    let reason = &imported.skipped()[0].reason;
    assert!(reason.contains("inputSchema"), "{reason}");
}
