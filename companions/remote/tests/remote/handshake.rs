//! Which tools of a handshake are accepted.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor};
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::raw::{Next, Raw, handshake};
use crate::tools::{Tested, registry};

fn custom(name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut tool = json!({
        "name": name,
        "description": "Do something.",
        "package": "",
        "hints": {},
        "input_schema": {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": false},
        "conditions": [],
    });
    change(&mut tool);
    tool
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(true), |inner, _| json!({"not": inner}))
}

#[tokio::test]
async fn a_hostile_tool_is_refused_by_name_and_the_rest_stands() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let schema = |tool: &mut Value, schema: Value| tool["input_schema"] = schema;
    let tools = json!([
        custom("good", |_| ()),
        custom("halve", |_| ()),
        custom("good", |_| ()),
        custom("../evil", |_| ()),
        custom("bad name", |_| ()),
        custom("remote", |tool| schema(tool, json!({"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1/x"}}}))),
        custom("file", |tool| schema(tool, json!({"type": "object", "$ref": "file:///etc/passwd"}))),
        custom("deep", |tool| schema(tool, json!({"type": "object", "properties": {"x": deep(60)}}))),
        custom("large", |tool| tool["description"] = json!("x".repeat(70_000))),
        custom("array", |tool| schema(tool, json!([]))),
        custom("rule", |tool| tool["conditions"] = json!([{
            "id": "rule.pre[0]", "kind": "pre", "predicate": "x", "parameters": [], "lowering": "described", "sentence": "x",
            "rule": {"id": "rule.pre[0]", "rule": "((((", "message": "m", "paths": []},
        }])),
        {"name": "no_schema"},
        {"name": 7},
        "not a tool",
    ]);
    let mut raw = Raw::enter(&task, &token).await?;
    raw.say(handshake(&task, &["halve", "unknown", "halve"], &tools).to_string())
        .await?;
    let Next::Message(answer) = raw.next().await else {
        return Err("no answer".into());
    };
    assert_eq!(answer["payload"]["toolbelt"], json!(["halve", "good"]));
    let refused = answer["payload"]["refused"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let names: Vec<_> = refused
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "",
            "",
            "../evil",
            "array",
            "bad name",
            "deep",
            "file",
            "good",
            "halve",
            "halve",
            "large",
            "no_schema",
            "remote",
            "rule",
            "unknown",
        ]
    );
    let session = tokio::time::timeout(Duration::from_secs(30), task.attached()).await??;
    let names: Vec<_> = session
        .registry()
        .tools()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(names, ["good", "halve"]);
    Ok(())
}

#[tokio::test]
async fn ten_thousand_tools_are_cut_at_the_limit() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let tools: Vec<_> = (0..10_000)
        .map(|n| custom(&format!("t{n}"), |_| ()))
        .collect();
    let mut raw = Raw::enter(&task, &token).await?;
    raw.say(handshake(&task, &[], &Value::Array(tools)).to_string())
        .await?;
    let Next::Message(answer) = raw.next().await else {
        return Err("no answer".into());
    };
    let length = |key: &str| answer["payload"][key].as_array().map(Vec::len);
    assert_eq!(length("toolbelt"), Some(128));
    assert_eq!(length("refused"), Some(101));
    let more = json!({"name": "", "reason": "and 9772 more"});
    assert_eq!(answer["payload"]["refused"][100], more);
    Ok(())
}

#[tokio::test]
async fn a_hundred_thousand_names_are_told_in_a_hundred_lines() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let equal = vec!["halve".to_owned(); 100_000];
    let unknown: Vec<_> = (0..100_000).rev().map(|n| format!("t{n:05}")).collect();
    let no_names = vec!["\u{1b}".to_owned(); 100_000];
    let cases = [
        (equal, 1, "the name is given twice; the first is kept"),
        (no_names, 1, "the backend knows no tool of that name"),
        (unknown, 101, "the backend knows no tool of that name"),
    ];
    for (names, lines, reason) in cases {
        let (task, token) = backend.task().await?;
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let mut raw = Raw::enter(&task, &token).await?;
        raw.say(handshake(&task, &names, &json!([])).to_string())
            .await?;
        let Next::Message(answer) = raw.next().await else {
            return Err("no answer".into());
        };
        let refused = answer["payload"]["refused"].as_array().ok_or("none")?;
        assert_eq!(refused.len(), lines);
        assert_eq!(refused[0]["reason"], reason);
        if let Some(last) = refused.get(100) {
            assert_eq!(refused[99]["name"], "t00099");
            assert_eq!(last["reason"], "and 99900 more");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_description_cannot_move_the_cursor() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let tool = custom("good", |tool| {
        tool["description"] = json!("a\u{1b}[2Jb\u{202e}c\nd");
    });
    let mut raw = Raw::enter(&task, &token).await?;
    raw.say(handshake(&task, &[], &json!([tool])).to_string())
        .await?;
    let session = tokio::time::timeout(Duration::from_secs(30), task.attached()).await??;
    let description = session
        .registry()
        .tool("good")
        .map(|tool| tool.description().to_owned());
    assert_eq!(description.as_deref(), Some("a[2Jbc\nd"));
    Ok(())
}

#[tokio::test]
async fn tools_that_nobody_knows_come_with_their_contracts() -> Tested {
    let tools = registry(&Arc::default())?;
    let backend = Backend::new(Registry::builder().build()?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let _executor = Executor::new(tools).custom().connect(task.address(), token);
    let session = tokio::time::timeout(Duration::from_secs(30), task.attached()).await??;
    assert_eq!(session.toolbelt().refused(), []);
    let outcome = session
        .registry()
        .call(ToolCall::new("1", "halve", r#"{"number":3}"#))
        .await;
    assert_eq!(
        outcome.violation().map(|one| one.contract.as_str()),
        Some("halve.pre[0]")
    );
    Ok(())
}

#[tokio::test]
async fn who_pings_before_the_handshake_is_let_in() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let mut raw = Raw::enter(&task, &token).await?;
    raw.send(Message::Ping("there?".into())).await?;
    raw.send(Message::Pong("here".into())).await?;
    raw.say(handshake(&task, &["halve"], &json!([])).to_string())
        .await?;
    let Next::Message(answer) = raw.next().await else {
        return Err("no answer".into());
    };
    assert_eq!(answer["type"], "handshake_ok");
    Ok(())
}
