use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_mcp::Importer;
use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, Status};
use serde_json::{Value, json};

use crate::fake::{Fake, Log, bare, call, refusal, result, text, within};

/// What comes of a call that is answered with this result.
async fn outcome_of(tool: Value, answer: Value) -> Outcome {
    let fake = Fake::new(json!([tool])).on("tools/call", move |request| {
        vec![result(request, answer.clone())]
    });
    let (registry, _heard) = fake.registry().await;
    call(&registry, "tool", "").await
}

fn described() -> Value {
    json!({
        "name": "tool",
        "inputSchema": {"type": "object"},
        "outputSchema": {
            "type": "object",
            "properties": {"count": {"type": "integer", "minimum": 0}},
            "required": ["count"],
        },
    })
}

#[tokio::test]
async fn texts_are_joined_and_other_parts_go_along() {
    let outcome = outcome_of(
        bare("tool"),
        json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "AAEC", "mimeType": "image/png"},
            {"type": "text", "text": "two"},
            {"type": "audio", "data": "/w==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a/b.txt", "text": "hi"}},
            {"type": "resource", "resource": {"uri": "x:y", "blob": "AA==", "mimeType": "a/b"}},
            {"type": "resource_link", "uri": "https://example.org", "name": "link"},
        ]}),
    )
    .await;
    assert_eq!(outcome.output(), Some("one\ntwo"));
    let artifacts = outcome.artifacts();
    assert_eq!(artifacts[0], Artifact::image("image/png", [0, 1, 2]));
    assert_eq!(artifacts[1], Artifact::file("audio", "audio/wav", [255]));
    assert_eq!(artifacts[2], Artifact::file("b.txt", "text/plain", "hi"));
    assert_eq!(artifacts[3], Artifact::file("y", "a/b", [0]));
    assert!(matches!(&artifacts[4], Artifact::Value { value, .. } if value["name"] == "link"));
}

#[tokio::test]
async fn a_result_is_held_to_the_output_schema() {
    let good = json!({"content": [{"type": "text", "text": "{\"count\":3}"}], "structuredContent": {"count": 3}});
    let outcome = outcome_of(described(), good).await;
    assert_eq!(outcome.value(), Some(json!({"count": 3})));
    for (wrong, why) in [
        (
            json!({"content": [], "structuredContent": {"count": -1}}),
            "/count",
        ),
        (json!({"content": [], "structuredContent": {}}), "/count"),
        (json!({"content": [], "structuredContent": null}), "null"),
        (
            json!({"content": [{"type": "text", "text": "3"}]}),
            "lacks the structured content",
        ),
    ] {
        let outcome = outcome_of(described(), wrong.clone()).await;
        assert_eq!(outcome.status(), Status::Failed, "{wrong}");
        let error = outcome.error().unwrap();
        assert!(error.contains(why), "{error}");
    }
}

#[tokio::test]
async fn a_structured_result_that_nobody_promised_goes_along_unless_the_text_says_it() {
    let structured = |text: &str| {
        let parts = json!([{"type": "text", "text": text}]);
        json!({"content": parts, "structuredContent": {"a": 1}})
    };
    let outcome = outcome_of(bare("tool"), structured("one")).await;
    assert_eq!(outcome.output(), Some("one"));
    assert_eq!(outcome.artifacts().len(), 1);
    let outcome = outcome_of(bare("tool"), structured("{ \"a\": 1 }")).await;
    assert!(outcome.artifacts().is_empty());
    let alone = json!({"content": [], "structuredContent": {"a": 1}});
    let outcome = outcome_of(bare("tool"), alone).await;
    assert_eq!(outcome.value(), Some(json!({"a": 1})));
    let word = json!({"content": [], "structuredContent": "word"});
    assert_eq!(outcome_of(bare("tool"), word).await.output(), Some("word"));
}

#[tokio::test]
async fn failures_are_failures_with_their_text() {
    let failed = json!({"isError": true, "content": [{"type": "text", "text": "no such file"}], "structuredContent": {}});
    let outcome = outcome_of(described(), failed).await;
    assert_eq!(outcome.status(), Status::Failed);
    assert!(outcome.error().unwrap().contains("no such file"));
    let outcome = outcome_of(bare("tool"), json!({"isError": true, "content": []})).await;
    assert!(outcome.error().unwrap().contains("without saying why"));
    let broken = json!({"content": [{"type": "image", "data": "!", "mimeType": "image/png"}]});
    assert!(
        outcome_of(bare("tool"), broken)
            .await
            .error()
            .unwrap()
            .contains("base64")
    );
}

#[tokio::test]
async fn errors_of_the_protocol_say_what_the_server_said() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |request| {
        vec![refusal(request, -32602, "not \u{1b}[2J today")]
    });
    let (registry, _heard) = fake.registry().await;
    let outcome = call(&registry, "tool", "").await;
    let error = outcome.error().unwrap();
    assert!(
        error.ends_with("not \\u{1b}[2J today (code -32602)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_tool_whose_calls_are_tasks_says_so_when_it_is_called() {
    let tool = json!({
        "name": "tool",
        "inputSchema": {"type": "object"},
        "execution": {"taskSupport": "required"},
    });
    let fake = Fake::new(json!([tool])).on("tools/call", |request| {
        vec![refusal(request, -32601, "a task is required")]
    });
    let (registry, _heard) = fake.registry().await;
    let outcome = call(&registry, "tool", "").await;
    assert_eq!(
        outcome.error(),
        Some(
            "the server refused the call: a task is required (code -32601); it may make this call only as a task, which is not supported"
        )
    );
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |_| Vec::new());
    let (registry, mut heard) = fake.registry().await;
    let running = tokio::spawn({
        let registry = registry.clone();
        async move { registry.call(ToolCall::new("1", "tool", "")).await }
    });
    let request = heard.next("tools/call").await;
    running.abort();
    let cancelled = heard.next("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
}

#[tokio::test]
async fn a_timeout_is_told_to_the_server() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |_| Vec::new());
    let (client, mut heard) = fake.start();
    let quick = Importer::new().call_timeout(Duration::from_millis(50));
    let tools = within(quick.import(client)).await.unwrap();
    let registry = Registry::builder().with(tools).build().unwrap();
    assert_eq!(call(&registry, "tool", "").await.status(), Status::TimedOut);
    let request = heard.next("tools/call").await;
    let cancelled = heard.next("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
}

#[tokio::test]
async fn a_cancelled_token_is_told_to_the_server() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |_| Vec::new());
    let (registry, mut heard) = fake.registry().await;
    let token = CancellationToken::new();
    let context = Context::new().cancellation(token.clone());
    let running = registry
        .call(ToolCall::new("2", "tool", ""))
        .context(context);
    let cancel = async {
        heard.next("tools/call").await;
        token.cancel();
    };
    let (outcome, ()) = within(async { tokio::join!(running, cancel) }).await;
    assert_eq!(outcome.status(), Status::Cancelled);
    heard.next("notifications/cancelled").await;
}

#[tokio::test]
async fn progress_is_heard_in_order_and_only_that_of_the_call() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |request| {
        let own = &request["params"]["_meta"]["progressToken"];
        let report = |token: &Value, done: i32| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": done, "total": 9, "message": format!("at {done}")}})
        };
        vec![report(&json!("not ours"), 7), report(&json!(77), 7), report(own, 1), report(own, 3), report(own, 2), report(own, 3)]
    });
    let (registry, mut heard) = fake.registry().await;
    let log = Log::default();
    let three = std::sync::Arc::new(tokio::sync::Notify::new());
    let progress = Progress::new({
        let (log, three) = (log.clone(), three.clone());
        move |report| {
            log.add(format!(
                "{} {:?} {}",
                report.done, report.total, report.message
            ));
            if report.done >= 3.0 {
                three.notify_one();
            }
        }
    });
    let token = CancellationToken::new();
    let context = Context::new()
        .progress(progress)
        .cancellation(token.clone());
    let running = registry
        .call(ToolCall::new("1", "tool", ""))
        .context(context);
    let stop = async {
        three.notified().await;
        token.cancel();
    };
    let (outcome, ()) = within(async { tokio::join!(running, stop) }).await;
    assert_eq!(outcome.status(), Status::Cancelled);
    let said = log.read();
    assert!(said.ends_with(&["3 Some(9.0) at 3".to_owned()]), "{said:?}");
    assert!(
        said.len() <= 3 && said.iter().all(|line| !line.starts_with('7')),
        "{said:?}"
    );
    heard.next("notifications/cancelled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_report_before_the_result_is_lost() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |request| {
        let token = &request["params"]["_meta"]["progressToken"];
        let report = |done: usize| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": done}})
        };
        (0..50).map(report).chain([text(request, "done")]).collect()
    });
    let (registry, _heard) = fake.registry().await;
    let log = Log::default();
    let said = log.clone();
    let progress = Progress::new(move |report| said.add(report.done.to_string()));
    let call = ToolCall::new("1", "tool", "");
    let outcome = within(
        registry
            .call(call)
            .context(Context::new().progress(progress)),
    )
    .await;
    assert_eq!(outcome.output(), Some("done"));
    let all: Vec<_> = (0..50).map(|done| done.to_string()).collect();
    assert_eq!(log.read(), all);
}

#[tokio::test]
async fn calls_run_side_by_side_and_answers_find_theirs() {
    let mut waiting: Vec<Value> = Vec::new();
    let fake = Fake::new(json!([{"name": "tool", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]))
        .on("tools/call", move |request| {
            waiting.push(request.clone());
            if waiting.len() < 8 {
                return Vec::new();
            }
            let answer = |request: &Value| text(request, &request["params"]["arguments"]["n"].to_string());
            waiting.iter().rev().map(answer).collect()
        });
    let (registry, _heard) = fake.registry().await;
    let running: Vec<_> = (0..8)
        .map(|n| {
            let registry = registry.clone();
            tokio::spawn(
                async move { (n, call(&registry, "tool", &format!(r#"{{"n":{n}}}"#)).await) },
            )
        })
        .collect();
    for one in running {
        let (n, outcome) = within(one).await.unwrap();
        assert_eq!(outcome.output(), Some(n.to_string().as_str()));
    }
}

#[tokio::test]
async fn a_server_that_asks_in_its_result_is_told_that_nobody_can_be_asked() {
    for (asked, told) in [
        (
            json!({"inputRequests": {"sure": {"method": "elicitation/create", "params": {
                "message": "Cancel order W1?\n\u{1b}[2J",
                "requestedSchema": {"type": "object", "properties": {}},
            }}}}),
            "not started, because the server asks for more input, and it was not told that it may: Cancel order W1?",
        ),
        (
            json!({"requestState": "later"}),
            "not started, because the server asks for more input, and there is nobody to ask",
        ),
    ] {
        let server = Fake::new(json!([bare("cancel")])).on("tools/call", move |request| {
            let mut answer = asked.clone();
            answer["resultType"] = json!("input_required");
            vec![result(request, answer)]
        });
        let (registry, _heard) = server.registry().await;
        let outcome = call(&registry, "cancel", "{}").await;
        assert_eq!(outcome.status(), Status::Failed);
        let error = outcome.error().unwrap();
        assert!(
            error.starts_with(told) && !error.contains('\u{1b}'),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_server_that_asks_in_the_middle_of_a_call_is_declined_at_once() {
    let calling = Arc::new(Mutex::new(Value::Null));
    let called = Arc::clone(&calling);
    let server = Fake::new(json!([bare("cancel")]))
        .on("tools/call", move |request| {
            *called.lock().unwrap() = request.clone();
            let params = json!({"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}});
            vec![json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params})]
        })
        .on("", move |answer| {
            assert_eq!(answer["id"], 7);
            let request = calling.lock().unwrap();
            vec![text(&request, &answer["result"]["action"].to_string())]
        });
    let (registry, _heard) = server.registry().await;
    let outcome = call(&registry, "cancel", "{}").await;
    assert_eq!(outcome.output(), Some("\"decline\""));
}

/// What a client is sent to which an imported tool is served again.
async fn served_again(tool: Value, answer: Value, revision: &str) -> Value {
    let fake = Fake::new(json!([tool])).on("tools/call", move |request| {
        vec![result(request, answer.clone())]
    });
    let (registry, _heard) = fake.registry().await;
    served(registry, revision).await
}

/// What a server answers to a call of `tool`.
async fn served(registry: Registry, revision: &str) -> Value {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    let (mut ours, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(contract_mcp::Server::new(registry).streams(read, write));
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool"}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let lines = format!("{begin}\n{initialized}\n{call}\n");
    ours.write_all(lines.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(ours).lines();
    let find = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == 1 {
                return message["result"].clone();
            }
        }
        panic!("the server ended");
    };
    within(find).await
}

#[tokio::test]
async fn links_annotations_and_the_order_of_blocks_survive_being_served_again() {
    let blocks = json!([
        {"type": "image", "data": "AAEC", "mimeType": "image/png", "annotations": {"audience": ["user"]}},
        {"type": "text", "text": "one", "annotations": {"priority": 0.5}},
        {"type": "resource_link", "uri": "https://example.org/a", "name": "a", "mimeType": "text/plain"},
        {"type": "text", "text": "two"},
        {"type": "resource", "resource": {"uri": "file:///a/b.txt", "text": "hi", "mimeType": "text/x"}},
    ]);
    let again = served_again(bare("tool"), json!({"content": blocks}), "2025-11-25").await;
    assert_eq!(again["content"], blocks);
    // A revision that has no links gets what it can read.
    let again = served_again(bare("tool"), json!({"content": blocks}), "2025-03-26").await;
    let kinds: Vec<_> = again["content"].as_array().unwrap().iter().collect();
    assert_eq!(kinds[0]["text"], "one\ntwo");
    assert!(
        kinds.iter().all(|one| one["type"] != "resource_link"),
        "{again}"
    );
    // The structured result is judged and sent as ever.
    let good =
        json!({"content": [{"type": "text", "text": "three"}], "structuredContent": {"count": 3}});
    let again = served_again(described(), good, "2025-11-25").await;
    assert_eq!(again["structuredContent"], json!({"count": 3}));
    assert_eq!(again["content"][0]["text"], "three");
}

#[tokio::test]
async fn what_a_tool_has_made_of_an_imported_result_is_its_own() {
    let blocks = json!([{"type": "text", "text": "theirs", "annotations": {"priority": 1.0}}]);
    let fake = Fake::new(json!([bare("inner")])).on("tools/call", move |request| {
        vec![result(request, json!({"content": blocks}))]
    });
    let (inner, _heard) = fake.registry().await;
    let spec = DynamicSpec::new("tool", "Ask the other.");
    let outer = Tool::dynamic(spec, move |_| {
        let inner = inner.clone();
        async move {
            let outcome = inner.call(ToolCall::new("1", "inner", "{}")).await;
            let theirs = outcome.output().unwrap_or_default().to_owned();
            Ok::<_, String>(Content::text(format!("ours of {theirs}")))
        }
    });
    let registry = Registry::builder().with(outer).build().unwrap();
    let answer = served(registry, "2025-11-25").await;
    assert_eq!(
        answer["content"],
        json!([{"type": "text", "text": "ours of theirs"}])
    );
}

#[tokio::test]
async fn an_imported_tool_shows_its_server() {
    let (registry, _heard) = Fake::new(json!([bare("tool")])).registry().await;
    let tool = registry.tool("tool").unwrap();
    assert_eq!(tool.location(), "MCP server fake 1");
}
