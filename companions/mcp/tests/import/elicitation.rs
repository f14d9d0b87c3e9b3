//! What a server asks during a call, and who answers.

use std::sync::{Arc, Mutex};

use contract_mcp::Importer;
use contract_runtime::prelude::*;
use contract_runtime::{Approval, ApprovalRequest, Decision, Run, Status};
use serde_json::{Value, json};

use crate::fake::{Fake, Log, bare, call, result, text, within};

/// The parameters of a question with these fields.
fn form(fields: &Value) -> Value {
    json!({
        "message": "Cancel order W1?\n\u{1b}[2J",
        "requestedSchema": {"type": "object", "properties": fields},
    })
}

/// A server that asks in the middle of a call, and answers with what it was told.
fn asking(question: Value) -> Fake {
    let calling = Arc::new(Mutex::new(Value::Null));
    let called = Arc::clone(&calling);
    Fake::new(json!([bare("cancel")]))
        .on("tools/call", move |request| {
            *called.lock().unwrap() = request.clone();
            let asks = json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": question});
            vec![asks]
        })
        .on("", move |answer| {
            let request = calling.lock().unwrap();
            vec![text(&request, &answer["result"].to_string())]
        })
}

/// An approver who says yes, and what it was asked.
fn yes() -> (
    Arc<Mutex<Vec<ApprovalRequest>>>,
    impl Fn(ApprovalRequest) -> std::future::Ready<Decision>,
) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let approve = move |request| {
        seen.lock().unwrap().push(request);
        std::future::ready(Decision::Approved(Approval::Once))
    };
    (asked, approve)
}

async fn outcome(registry: &Registry, context: Context) -> Outcome {
    let cancel = ToolCall::new("1", "cancel", r#"{"order":"W1"}"#);
    within(registry.call_with(cancel, context)).await
}

/// What an outcome says of the answer that the server was given.
#[track_caller]
fn answer(outcome: &Outcome) -> Value {
    outcome.value().map_or_else(
        || panic!("{outcome:?}"),
        |value| serde_json::from_str(value.as_str().unwrap()).unwrap(),
    )
}

#[tokio::test]
async fn a_plain_question_is_put_to_the_approver_of_the_call_its_run_or_its_registry() {
    for level in ["call", "run", "registry"] {
        for (fields, content) in [
            (json!({}), json!({})),
            (json!({"sure": {"type": "boolean"}}), json!({"sure": true})),
        ] {
            let (imported, _heard) = asking(form(&fields)).import().await.unwrap();
            let builder = Registry::builder().with(imported);
            let (asked, approve) = yes();
            let (builder, context) = match level {
                "call" => (builder, Context::new().approver(approve)),
                "run" => (builder, Context::new().run(&Run::new().approver(approve))),
                _ => (builder.approver(approve), Context::new()),
            };
            let outcome = outcome(&builder.build().unwrap(), context).await;
            assert_eq!(
                answer(&outcome),
                json!({"action": "accept", "content": content}),
                "{level}"
            );
            let asked = asked.lock().unwrap();
            assert_eq!(asked.len(), 1);
            assert_eq!((&*asked[0].tool, &*asked[0].call_id), ("cancel", "1"));
            assert_eq!(asked[0].arguments, json!({"order": "W1"}));
            assert_eq!(
                asked[0].questions[0].text,
                "MCP server fake 1 asks: Cancel order W1? [2J"
            );
        }
    }
}

#[tokio::test]
async fn whoever_says_no_declines_and_the_server_goes_on() {
    let (registry, _heard) = asking(form(&json!({}))).registry().await;
    let no = Context::new().approver(async |_| Decision::Denied("it has been sent".to_owned()));
    let outcome = outcome(&registry, no).await;
    assert_eq!(answer(&outcome), json!({"action": "decline"}));
}

#[tokio::test]
async fn what_is_no_question_of_yes_or_no_is_declined_with_a_reason() {
    let url = json!({"mode": "url", "message": "Log in", "url": "https://example.org", "elicitationId": "1"});
    let two = json!({"sure": {"type": "boolean"}, "really": {"type": "boolean"}});
    for (question, why) in [
        (
            form(&json!({"name": {"type": "string"}})),
            "it asks for more than yes or no: Cancel",
        ),
        (form(&two), "it asks for more than yes or no: Cancel"),
        (url, "it wants a person to visit a page: Log in"),
    ] {
        let (registry, _heard) = asking(question).registry().await;
        let (asked, approve) = yes();
        let log = Log::default();
        let heard = log.clone();
        let context = Context::new()
            .approver(approve)
            .log(move |record| heard.add(record.to_string()));
        let outcome = outcome(&registry, context).await;
        assert_eq!(answer(&outcome), json!({"action": "decline"}));
        assert!(asked.lock().unwrap().is_empty());
        let said = log.read().concat();
        let start = "warning: cancel: the server asked, and its question was declined, because ";
        assert!(said.starts_with(&format!("{start}{why}")), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}

#[tokio::test]
async fn with_several_calls_nobody_knows_which_one_asks() {
    let calls = Mutex::new(Vec::new());
    let calls = Arc::new(calls);
    let called = Arc::clone(&calls);
    let server = Fake::new(json!([bare("cancel")]))
        .on("tools/call", move |request| {
            let mut called = called.lock().unwrap();
            called.push(request.clone());
            let asks = json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": form(&json!({}))});
            if called.len() == 2 { vec![asks] } else { Vec::new() }
        })
        .on("", move |answer| {
            let calls = calls.lock().unwrap();
            let answer = answer["result"].to_string();
            calls.iter().map(|request| text(request, &answer)).collect()
        });
    let (registry, _heard) = server.registry().await;
    let (asked, approve) = yes();
    let context = Context::new().approver(approve);
    let (one, other) = tokio::join!(
        outcome(&registry, context.clone()),
        outcome(&registry, context)
    );
    assert_eq!(answer(&one), json!({"action": "decline"}));
    assert_eq!(answer(&other), json!({"action": "decline"}));
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_call_that_is_given_up_asks_nobody_any_more() {
    let (registry, mut heard) = asking(form(&json!({}))).registry().await;
    let token = CancellationToken::new();
    let stop = token.clone();
    // Whoever was asked gives up instead of answering.
    let context = Context::new().cancellation(token).approver(move |_| {
        stop.cancel();
        std::future::pending()
    });
    let outcome = outcome(&registry, context).await;
    assert_eq!(outcome.status(), Status::Cancelled);
    heard.next("notifications/cancelled").await;
}

#[tokio::test]
async fn a_call_that_needs_an_answer_is_made_again_with_it() {
    let asks = |state: &str| {
        json!({
            "resultType": "input_required",
            "inputRequests": {"sure": {"method": "elicitation/create", "params": form(&json!({"ok": {"type": "boolean"}}))}},
            "requestState": state,
        })
    };
    for (decision, told) in [
        (
            Decision::Approved(Approval::Once),
            json!({"sure": {"action": "accept", "content": {"ok": true}}}),
        ),
        (
            Decision::Denied("no".to_owned()),
            json!({"sure": {"action": "decline"}}),
        ),
    ] {
        let server = Fake::new(json!([bare("cancel")])).on("tools/call", move |request| {
            let params = &request["params"];
            vec![match params["requestState"].as_str() {
                None => result(request, asks("first")),
                Some("first") => result(request, asks("second")),
                _ => text(request, &params["inputResponses"].to_string()),
            }]
        });
        let (registry, _heard) = server.registry().await;
        let context = Context::new().approver(move |_| std::future::ready(decision.clone()));
        let outcome = outcome(&registry, context).await;
        assert_eq!(answer(&outcome), told);
    }
}

#[tokio::test]
async fn a_server_that_needs_more_than_yes_or_no_fails_its_call() {
    let (_, approve) = yes();
    let endless = json!({"sure": {"method": "elicitation/create", "params": form(&json!({}))}});
    let wider = json!({"name": {"method": "elicitation/create", "params": form(&json!({"name": {"type": "string"}}))}});
    let roots = json!({"roots": {"method": "roots/list"}});
    let registry = |requests: Value| {
        let server = Fake::new(json!([bare("cancel")])).on("tools/call", move |request| {
            let asks = json!({"resultType": "input_required", "inputRequests": requests});
            vec![result(request, asks)]
        });
        server.registry()
    };
    let context = Context::new().approver(approve);
    for (requests, why) in [
        (
            wider,
            "and it asks for more than yes or no: Cancel order W1?",
        ),
        (roots, "and it asks for more than people can answer here"),
        (endless, "the server asked 10 times for more input"),
    ] {
        let (registry, _heard) = registry(requests).await;
        let outcome = outcome(&registry, context.clone()).await;
        assert!(outcome.error().unwrap().contains(why), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_server_learns_that_it_may_ask_only_if_the_host_says_so() {
    for (importer, told) in [
        (Importer::new(), json!({})),
        (
            Importer::new().elicitation(),
            json!({"elicitation": {"form": {}}}),
        ),
    ] {
        let (client, mut heard) = asking(form(&json!({}))).start();
        let imported = within(importer.import(client)).await.unwrap();
        let hello = heard.next("initialize").await;
        assert_eq!(hello["params"]["capabilities"], told);
        // Without an approver it is declined either way.
        let registry = Registry::builder().with(imported).build().unwrap();
        let outcome = call(&registry, "cancel", "{}").await;
        assert_eq!(answer(&outcome), json!({"action": "decline"}));
    }
}
