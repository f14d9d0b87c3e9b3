//! What a body asks while it runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_runtime::approval::{Approval, Decision};
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, Run, Status};
use serde_json::json;

/// A tool that asks `Send it?`, with a trick in it, and says what came of it.
fn send() -> Tool {
    let spec = DynamicSpec::new("send", "Send it.").input_schema(json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "pin": {"type": "string", "writeOnly": true}},
    }));
    Tool::dynamic_with(spec, |_, context| async move {
        let decision = context.ask("Send\u{202e} it?").await;
        Ok::<_, String>(Content::text(format!("{decision:?}")))
    })
}

fn registry() -> Registry {
    Registry::builder().with(vec![send()]).build().unwrap()
}

fn call() -> ToolCall {
    ToolCall::new("7", "send", r#"{"to":"ada","pin":"1234"}"#)
}

#[tokio::test]
async fn a_body_asks_the_approver_in_its_middle() {
    assert_eq!(registry().call(call()).await.output(), Some("None"));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let told = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&told);
    let run = Run::new().observe(Observer::new().events(move |event| match event {
        CheckEvent::Asked(request) => hears.lock().unwrap().push(request.to_string()),
        CheckEvent::Answered { decision, .. } => {
            hears.lock().unwrap().push(format!("{decision:?}"));
        }
        _ => {}
    }));
    let run = run.approver(move |request| {
        seen.lock().unwrap().push(request);
        async { Decision::Approved(Approval::Once) }
    });
    let outcome = registry()
        .call(call())
        .context(Context::new().run(&run))
        .await;
    assert_eq!(outcome.output(), Some("Some(Approved(Once))"));
    let request = requests.lock().unwrap().remove(0);
    assert_eq!(request.to_string(), "Send it?");
    assert_eq!(request.questions[0].contract, "send.body");
    assert_eq!((&*request.call_id, &*request.tool), ("7", "send"));
    assert_eq!(request.arguments["to"], "ada");
    assert!(!request.arguments["pin"].to_string().contains("1234"));
    assert_eq!(*told.lock().unwrap(), ["Send it?", "Some(Approved(Once))"]);
}

#[tokio::test]
async fn an_approver_of_a_body_may_panic_or_never_answer() {
    let failed = r#"Some(Denied("the program that asks about it failed"))"#;
    let at_once =
        Context::new().approver(|_| -> std::future::Ready<Decision> { panic!("at once") });
    let later = Context::new().approver(async |_| -> Decision { panic!("later") });
    for context in [at_once, later] {
        let outcome = registry().call(call()).context(context).await;
        assert_eq!(outcome.output(), Some(failed));
    }
    let never = Context::new()
        .approver(|_| std::future::pending::<Decision>())
        .timeout(Duration::from_millis(20));
    let outcome = registry().call(call()).context(never).await;
    assert_eq!(outcome.status(), Status::TimedOut);
}

#[tokio::test]
async fn a_call_that_a_body_makes_waits_for_nobody() {
    let inner = registry();
    let outer = Tool::dynamic(DynamicSpec::new("outer", "Call another."), move |_| {
        let inner = inner.clone();
        async move {
            let context = Context::new().approver(async |_| {
                tokio::task::yield_now().await;
                Decision::Approved(Approval::Once)
            });
            let outcome = inner.call(call()).context(context).await;
            Ok::<_, String>(Content::text(outcome.output().unwrap_or_default()))
        }
    });
    let registry = Registry::builder().with(outer).build().unwrap();
    let outcome = registry.call(ToolCall::new("1", "outer", "{}")).await;
    let why = r#"Some(Denied("a call that a tool makes cannot wait for an answer"))"#;
    assert_eq!(outcome.output(), Some(why));
}
