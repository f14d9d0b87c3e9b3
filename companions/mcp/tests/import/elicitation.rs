//! What a server asks during a call, and who answers.

use std::sync::{Arc, Mutex};

use contract_mcp::{Imported, Importer};
use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{Run, Status};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::fake::{Fake, Heard, Log, bare, call, result, text, within};

/// Imports the tools of a server that may ask.
async fn import(server: Fake) -> (Imported, Heard) {
    let (client, heard) = server.start();
    let imported = within(Importer::new().elicitation().import(client)).await;
    (imported.unwrap(), heard)
}

async fn registry(server: Fake) -> (Registry, Heard) {
    let (imported, heard) = import(server).await;
    (Registry::builder().with(imported).build().unwrap(), heard)
}

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
    within(registry.call(cancel).context(context)).await
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
        for (fields, content, yes_to) in [
            (json!({}), json!({}), ""),
            (
                json!({"sure": {"type": "boolean"}}),
                json!({"sure": true}),
                " (yes to `sure`)",
            ),
        ] {
            let (imported, _heard) = import(asking(form(&fields))).await;
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
                format!("MCP server fake 1 asks: Cancel order W1? [2J{yes_to}")
            );
        }
    }
}

#[tokio::test]
async fn whoever_says_no_declines_and_the_server_goes_on() {
    let (registry, _heard) = registry(asking(form(&json!({})))).await;
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
        let (registry, _heard) = registry(asking(question)).await;
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
    let (registry, _heard) = registry(server).await;
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
    let (registry, mut heard) = registry(asking(form(&json!({})))).await;
    let token = CancellationToken::new();
    let stop = token.clone();
    // Whoever was asked gives up instead of answering.
    let context = Context::new().cancellation(token).approver(move |_| {
        stop.cancel();
        std::future::pending::<Decision>()
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
        let (registry, _heard) = registry(server).await;
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
    let asking_for = |requests: Value| {
        let server = Fake::new(json!([bare("cancel")])).on("tools/call", move |request| {
            let asks = json!({"resultType": "input_required", "inputRequests": requests});
            vec![result(request, asks)]
        });
        registry(server)
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
        let (registry, _heard) = asking_for(requests).await;
        let outcome = outcome(&registry, context.clone()).await;
        assert!(outcome.error().unwrap().contains(why), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_server_learns_that_it_may_ask_and_asks_only_if_the_host_says_so() {
    for (importer, told, answered) in [
        (Importer::new(), json!({}), json!({"action": "decline"})),
        (
            Importer::new().elicitation(),
            json!({"elicitation": {"form": {}}}),
            json!({"action": "accept", "content": {}}),
        ),
    ] {
        let (client, mut heard) = asking(form(&json!({}))).start();
        let imported = within(importer.import(client)).await.unwrap();
        let hello = heard.next("initialize").await;
        assert_eq!(hello["params"]["capabilities"], told);
        let registry = Registry::builder().with(imported).build().unwrap();
        let (asked, approve) = yes();
        let outcome = outcome(&registry, Context::new().approver(approve)).await;
        assert_eq!(answer(&outcome), answered);
        assert_eq!(
            asked.lock().unwrap().len(),
            usize::from(answered["action"] == "accept")
        );
    }
}

#[tokio::test]
async fn a_server_that_may_not_ask_for_input_gets_none() {
    let server = Fake::new(json!([bare("cancel")])).on("tools/call", move |request| {
        let requests =
            json!({"sure": {"method": "elicitation/create", "params": form(&json!({}))}});
        let asks = json!({"resultType": "input_required", "inputRequests": requests});
        vec![result(request, asks)]
    });
    let (registry, _heard) = server.registry().await;
    let (asked, approve) = yes();
    let outcome = outcome(&registry, Context::new().approver(approve)).await;
    let why = "and it was not told that it may: Cancel order W1?";
    assert!(outcome.error().unwrap().contains(why), "{outcome:?}");
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn without_an_approver_every_question_is_declined() {
    let (registry, _heard) = registry(asking(form(&json!({})))).await;
    let outcome = outcome(&registry, Context::new()).await;
    assert_eq!(answer(&outcome), json!({"action": "decline"}));
}

#[tokio::test]
async fn a_person_reads_what_the_field_means_however_long_the_message_is() {
    let fields = json!({"wipe": {"type": "boolean", "title": "Wipe the disk", "description": "Nothing is\u{202e} left."}});
    let mut question = form(&fields);
    question["message"] = json!("A".repeat(1 << 20));
    let (registry, _heard) = registry(asking(question)).await;
    let (asked, approve) = yes();
    let outcome = outcome(&registry, Context::new().approver(approve)).await;
    assert_eq!(answer(&outcome)["content"], json!({"wipe": true}));
    let text = asked.lock().unwrap()[0].questions[0].text.clone();
    let end = r"AAA (yes to `Wipe the disk`: Nothing is\u{202e} left.)";
    assert!(text.ends_with(end), "{text}");
}

#[tokio::test]
async fn a_form_that_requires_more_than_it_shows_is_declined() {
    let mut question = form(&json!({}));
    question["requestedSchema"]["required"] = json!(["name"]);
    let (registry, _heard) = registry(asking(question)).await;
    let (asked, approve) = yes();
    let outcome = outcome(&registry, Context::new().approver(approve)).await;
    assert_eq!(answer(&outcome), json!({"action": "decline"}));
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_question_with_nested_fields_is_declined_with_a_reason() {
    let nested = json!({"a": {"type": "object", "properties": {"b": {"type": "boolean"}}}});
    let (registry, _heard) = registry(asking(form(&nested))).await;
    let log = Log::default();
    let heard = log.clone();
    let context = Context::new().log(move |record| heard.add(record.to_string()));
    let outcome = outcome(&registry, context).await;
    assert_eq!(answer(&outcome), json!({"action": "decline"}));
    let said = log.read().concat();
    let why = "because it asks for more than a form of plain fields";
    assert!(said.ends_with(why), "{said}");
}

/// A server that asks so many questions in the middle of a call, and ends it when all are answered.
fn flooding(questions: usize) -> Fake {
    let calling = Arc::new(Mutex::new(Value::Null));
    let called = Arc::clone(&calling);
    let mut answers = Vec::new();
    Fake::new(json!([bare("cancel")]))
        .on("tools/call", move |request| {
            *called.lock().unwrap() = request.clone();
            let asks = |id| json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form(&json!({}))});
            (0..questions).map(asks).collect()
        })
        .on("", move |answer| {
            answers.push(answer["result"]["action"].clone());
            if answers.len() < questions {
                return Vec::new();
            }
            vec![text(&calling.lock().unwrap(), &json!(answers).to_string())]
        })
}

#[tokio::test]
async fn a_flood_of_questions_reaches_nobody() {
    let (registry, _heard) = registry(flooding(500)).await;
    let (asked, approve) = yes();
    let log = Log::default();
    let heard = log.clone();
    let context = Context::new()
        .approver(approve)
        .log(move |record| heard.add(record.to_string()));
    let outcome = outcome(&registry, context).await;
    let answers = answer(&outcome);
    let accepted = answers.as_array().unwrap().iter();
    assert_eq!(
        accepted
            .filter(|action| **action == json!("accept"))
            .count(),
        10
    );
    assert_eq!(asked.lock().unwrap().len(), 10);
    assert_eq!(log.read().len(), 1, "{:?}", log.read());
}

#[tokio::test]
async fn a_flood_of_questions_in_a_result_reaches_nobody() {
    let server = Fake::new(json!([bare("cancel")])).on("tools/call", move |request| {
        let asks = json!({"method": "elicitation/create", "params": form(&json!({}))});
        let requests = (0..500).map(|key| (key.to_string(), asks.clone()));
        let requests: serde_json::Map<String, Value> = requests.collect();
        vec![result(
            request,
            json!({"resultType": "input_required", "inputRequests": requests}),
        )]
    });
    let (registry, _heard) = registry(server).await;
    let (asked, approve) = yes();
    let outcome = outcome(&registry, Context::new().approver(approve)).await;
    let why = "it has more than 10 questions";
    assert!(outcome.error().unwrap().contains(why), "{outcome:?}");
    assert!(asked.lock().unwrap().is_empty());
}

/// Tells when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_question_that_the_server_takes_back_is_taken_from_the_approver() {
    let mut asking = Value::Null;
    let server = Fake::new(json!([bare("cancel"), bare("withdraw"), bare("end")])).on(
        "tools/call",
        move |request| match request["params"]["name"].as_str() {
            Some("cancel") => {
                asking = request.clone();
                vec![json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": form(&json!({}))})]
            }
            Some("withdraw") => {
                let params = json!({"requestId": 7});
                let back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
                vec![back, text(request, "done")]
            }
            _ => vec![text(&asking, "ended"), text(request, "done")],
        },
    );
    let (registry, _heard) = registry(server).await;
    let (asked, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (seen, dropped) = (Arc::clone(&asked), Arc::clone(&gone));
    let context = Context::new().approver(move |_| {
        let dropped = Dropped(Arc::clone(&dropped));
        seen.notify_one();
        async move {
            let _dropped = dropped;
            std::future::pending::<Decision>().await
        }
    });
    let others = async {
        within(asked.notified()).await;
        assert!(call(&registry, "withdraw", "{}").await.is_ok());
        within(gone.notified()).await;
        assert!(call(&registry, "end", "{}").await.is_ok());
    };
    let (outcome, ()) = tokio::join!(outcome(&registry, context), others);
    assert_eq!(outcome.output(), Some("ended"));
}
