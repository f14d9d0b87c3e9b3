//! The twelve ways a call may end, and the counts of them.

use std::future::Future;
use std::task::{Context as Task, Poll, Waker};
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{InvalidArguments, Run, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::common::ended;

/// End in the way that is asked for.
#[tool(timeout = "40ms")]
#[pre(way != "violation", "this way is closed")]
async fn end(way: &str) -> Result<String, String> {
    match way {
        "failed" => Err("as asked".to_owned()),
        "panicked" => panic!("as asked"),
        "timed_out" | "cancelled" => std::future::pending().await,
        "slow" => {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok(way.to_owned())
        }
        _ => Ok(way.to_owned()),
    }
}

/// Ask about every call.
#[tool(confirm = "Go on?")]
fn ask() {}

fn registry() -> Registry {
    let builder = Registry::builder().tool(end).tool(ask);
    let builder = builder.before_call(async |call, _| {
        let is_refused = call.arguments.contains("refused");
        if is_refused {
            Err("not this way".to_owned())
        } else {
            Ok(())
        }
    });
    builder.max_calls(1).build().unwrap()
}

fn call(way: &str) -> ToolCall {
    ToolCall::new("1", "end", json!({"way": way}).to_string())
}

/// An outcome as JSON has the same members with and without its values.
fn is_written_whole_and_masked(outcome: &Outcome) {
    let json = serde_json::to_value(outcome).unwrap();
    let masked = serde_json::to_value(outcome.masked()).unwrap();
    let of_all = json!({"id": "1", "name": outcome.tool(), "status": outcome.status(), "effect": outcome.effect()});
    for (member, value) in of_all.as_object().unwrap() {
        assert_eq!((&json[member], &masked[member]), (value, value));
    }
    let members = |json: &Value| {
        json.as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(members(&json), members(&masked));
    assert_eq!(json["output"], json!(outcome.output()));
    assert_eq!(json["error"], json!(outcome.error()));
    assert_eq!(json["violation"], json!(outcome.violation()));
    let problems = outcome.invalid_arguments().map(InvalidArguments::problems);
    assert_eq!(json["problems"], json!(problems));
    assert_eq!(json["approval_request"], json!(outcome.approval_request()));
    let way = if outcome.status() == Status::Failed {
        "as asked"
    } else {
        "Go on?"
    };
    assert!(!masked.to_string().contains(way), "{masked}");
}

#[tokio::test]
async fn every_call_ends_in_one_of_twelve_ways_and_is_counted_once() {
    let registry = registry();
    let mut outcomes = Vec::new();
    for way in ["ok", "violation", "failed", "panicked", "timed_out"] {
        outcomes.push(registry.call(call(way)).await);
    }
    outcomes.push(registry.call(ToolCall::new("1", "end", "[]")).await);
    outcomes.push(registry.call(ToolCall::new("1", "and", "{}")).await);
    outcomes.push(registry.call(ToolCall::new("1", "ask", "")).await);
    let nobody = outcomes[7]
        .approval_request()
        .map(|request| request.deny("no"));
    let denied = Context::new().answer(nobody.expect("it asks"));
    outcomes.push(
        registry
            .call(ToolCall::new("1", "ask", ""))
            .context(denied)
            .await,
    );
    outcomes.push(registry.call(call("refused")).await);
    let token = CancellationToken::new();
    let context = Context::new().cancellation(token.clone());
    let (outcome, overloaded, ()) = tokio::join!(
        biased;
        registry.call(call("cancelled")).context(context),
        registry.call(call("ok")),
        async { token.cancel() }
    );
    outcomes.extend([outcome, overloaded]);
    let expected = [
        (Status::Ok, "ok"),
        (Status::Violation, "violation"),
        (Status::Failed, "failed"),
        (Status::Panicked, "panicked"),
        (Status::TimedOut, "timed_out"),
        (Status::InvalidArguments, "invalid_arguments"),
        (Status::UnknownTool, "unknown_tool"),
        (Status::Asked, "asked"),
        (Status::Denied, "denied"),
        (Status::Refused, "refused"),
        (Status::Cancelled, "cancelled"),
        (Status::Overloaded, "overloaded"),
    ];
    assert_eq!(outcomes.len(), expected.len());
    for (outcome, (status, name)) in outcomes.into_iter().zip(expected) {
        assert_eq!(outcome.status(), status);
        assert_eq!(status.to_string(), name);
        assert_eq!(serde_json::to_value(status).unwrap(), json!(name));
        assert_eq!(outcome.id(), "1");
        assert_eq!(outcome.is_ok(), status == Status::Ok);
        assert_eq!(outcome.output().is_some(), status == Status::Ok);
        assert_eq!(outcome.error().is_none(), status == Status::Ok);
        // The sentence is composed once, and goes into the result as it is.
        let sentence = outcome.error().map(str::as_ptr);
        assert_eq!(outcome.error().map(str::as_ptr), sentence);
        assert_eq!(outcome.violation().is_some(), status == Status::Violation);
        assert_eq!(
            outcome.approval_request().is_some(),
            status == Status::Asked
        );
        assert_eq!(
            outcome.invalid_arguments().is_some(),
            status == Status::InvalidArguments
        );
        is_written_whole_and_masked(&outcome);
        let result = outcome.into_result();
        assert_eq!(result.success, status == Status::Ok);
        assert_eq!(result.output.is_some(), result.success);
        assert_eq!(result.error.as_deref().map(str::as_ptr), sentence);
        assert!(!result.text().is_empty());
        assert_eq!(registry.statistics().ended(status), 1);
    }
    let statistics = registry.statistics();
    assert_eq!(statistics.calls(), 12);
    assert_eq!(Status::ALL.len(), expected.len());
    let json = serde_json::to_value(statistics).unwrap();
    for (_, name) in expected {
        assert_eq!(json[name], json!(1));
    }
    assert_eq!(json["calls"], json!(12));
    assert_eq!(json["conditions"]["violated"], json!(1));
}

/// A value that can fail when it is read, written or dropped.
#[derive(JsonSchema)]
#[schemars(transparent)]
struct Part(String);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let way = String::deserialize(deserializer)?;
        assert_ne!(way, "panics when read");
        Ok(Self(way))
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert_ne!(self.0, "panics when written");
        contract_assert!(self.0 != "asserts when written");
        match &*self.0 {
            "infinite" => serializer.serialize_f64(f64::INFINITY),
            "refused" => Err(serde::ser::Error::custom("not this one")),
            way => serializer.serialize_str(way),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        assert_ne!(self.0, "panics when dropped");
    }
}

#[pre(!way.contains("below"))]
fn below(way: &str) {
    let _ = way;
}

fn looked_up(way: &str) -> Result<String, String> {
    assert_ne!(way, "panics in a given");
    match way {
        "missing" => Err("not found".to_owned()),
        way => Ok(way.to_owned()),
    }
}

fn commit(way: &str) -> Result<(), String> {
    assert_ne!(way, "panics in then");
    match way {
        "not committed" => Err("the line is down".to_owned()),
        _ => Ok(()),
    }
}

macro_rules! pay {
    ($($name:ident($($option:tt)*))*) => {$(
        /// Pay.
        #[tool($($option)*)]
        #[pre(way.0 != "pre")]
        #[given(found = looked_up(&way.0)?, then commit(&found)?)]
        #[post(|_| way.0 != "post")]
        async fn $name(way: &Part) -> Result<Part, String> {
            below(&found);
            contract_assert!(found != "assert");
            match &*found {
                "panics" => panic!("as asked"),
                "fails" => return Err("as asked".to_owned()),
                "fails in the words of a result" => {
                    return Err("the result cannot be written as JSON: not this one".to_owned());
                }
                "fails without a word" => return Err(String::new()),
                "waits" => std::future::pending().await,
                "result panics when dropped" => return Ok(Part("panics when dropped".to_owned())),
                _ => {}
            }
            Ok(Part(found.clone()))
        }
    )*};
}

pay! {
    pay(timeout = "20ms")
    preview(read_only, timeout = "20ms")
}

/// Pay a sum of money, after a question.
#[tool(confirm = "Pay?")]
fn pay_asking() {}

const UNKNOWN: &str = "; it may have taken effect, so check before you repeat it";
const COMPLETE: &str = "; do not repeat it";

#[allow(clippy::too_many_lines, reason = "one table")]
#[tokio::test]
async fn every_outcome_says_whether_the_call_took_effect() {
    use contract_runtime::Effect::{Complete, None, Unknown};
    let builder = Registry::builder().tool(pay).tool(preview).tool(pay_asking);
    let registry = builder
        .before_call(async |call, _| match call.id.as_str() {
            "panic" => panic!("as asked"),
            "refuse" => Err("not today".to_owned()),
            _ => Ok(()),
        })
        .build()
        .unwrap();
    let expected = [
        ("ok", Status::Ok, Complete),
        ("panics when read", Status::Panicked, None),
        ("pre", Status::Violation, None),
        ("panics in a given", Status::Panicked, None),
        ("missing", Status::Failed, None),
        ("post", Status::Violation, Unknown),
        ("assert", Status::Violation, Unknown),
        ("below", Status::Violation, Unknown),
        ("asserts when written", Status::Violation, Unknown),
        ("fails", Status::Failed, Unknown),
        ("fails in the words of a result", Status::Failed, Unknown),
        ("fails without a word", Status::Failed, Unknown),
        ("not committed", Status::Failed, Unknown),
        ("infinite", Status::Failed, Complete),
        ("refused", Status::Failed, Complete),
        ("panics", Status::Panicked, Unknown),
        ("panics in then", Status::Panicked, Unknown),
        ("panics when written", Status::Panicked, Complete),
        ("result panics when dropped", Status::Panicked, Complete),
        ("waits", Status::TimedOut, Unknown),
    ];
    for (way, status, effect) in expected {
        let arguments = json!({"way": way}).to_string();
        let outcome = registry
            .call(ToolCall::new("1", "pay", arguments.clone()))
            .await;
        assert_eq!(
            (outcome.status(), outcome.effect()),
            (status, effect),
            "{way}"
        );
        let said = outcome.error().unwrap_or_default().to_owned();
        // What the author wrote stays as it is.
        let is_of_author = ["as asked", "the line is down"].contains(&&*said)
            || said.contains("the result cannot be written as JSON") && effect == Unknown;
        let ending = match effect {
            Unknown if !is_of_author => UNKNOWN,
            Complete if status != Status::Ok => COMPLETE,
            _ => "",
        };
        assert!(said.ends_with(ending), "{way}: {said}");
        assert_eq!(
            said.starts_with("it took effect, but "),
            ending == COMPLETE,
            "{said}"
        );
        assert_eq!(said.contains("may have taken"), ending == UNKNOWN, "{said}");
        let result = outcome.into_result();
        assert_eq!(
            serde_json::to_value(&result).unwrap()["effect"],
            effect.name()
        );

        // A tool that is read only never has an effect, and neither has a check.
        let preview = registry
            .call(ToolCall::new("1", "preview", arguments.clone()))
            .await;
        assert_eq!(
            (preview.status(), preview.effect()),
            (status, None),
            "{way}"
        );
        assert!(
            !preview.error().unwrap_or_default().contains("effect"),
            "{way}"
        );
        let checked = registry.check(ToolCall::new("1", "pay", arguments)).await;
        assert_eq!(checked.effect(), None, "{way}");
    }

    let call =
        |id: &str, name: &str, arguments: &str| registry.call(ToolCall::new(id, name, arguments));
    let way = r#"{"way":"ok"}"#;
    let asked = call("1", "pay_asking", "").await;
    let deny = asked.approval_request().unwrap().deny("no");
    let denied = Context::new().answer(deny);
    let denied = registry
        .call(ToolCall::new("1", "pay_asking", ""))
        .context(denied);
    let token = CancellationToken::new();
    token.cancel();
    let cancelled = Context::new().cancellation(token);
    let late = Context::new().timeout(Duration::ZERO);
    let refused = [
        (call("1", "pay", "[]").await, Status::InvalidArguments),
        (call("1", "pray", way).await, Status::UnknownTool),
        (denied.await, Status::Denied),
        (call("panic", "pay", way).await, Status::Panicked),
        (call("refuse", "pay", way).await, Status::Refused),
        (
            registry
                .call(ToolCall::new("1", "pay", way))
                .context(cancelled)
                .await,
            Status::Cancelled,
        ),
        (
            registry
                .call(ToolCall::new("1", "pay", way))
                .context(late)
                .await,
            Status::TimedOut,
        ),
        (asked, Status::Asked),
    ];
    for (outcome, status) in refused {
        assert_eq!((outcome.status(), outcome.effect()), (status, None));
        assert!(!outcome.error().unwrap().contains("effect"));
    }

    let token = CancellationToken::new();
    let context = Context::new().cancellation(token.clone());
    let waits = ToolCall::new("1", "pay", r#"{"way":"waits"}"#);
    let (cut_off, ()) = tokio::join!(
        biased;
        registry.call(waits).context(context),
        async { token.cancel() }
    );
    assert_eq!(cut_off.effect(), Unknown);
    assert_eq!(
        cut_off.error().unwrap(),
        format!("the call was cancelled{UNKNOWN}")
    );
}

#[test]
fn an_unknown_tool_is_told_the_nearest_name_and_not_its_own() {
    let registry = registry();
    let (status, error) = ended(&registry, "ennd", "{}");
    assert_eq!(status, Status::UnknownTool);
    assert!(error.contains("`end`"), "{error}");
    let (_, error) = ended(&registry, "completely_different", "{}");
    assert_eq!(
        error,
        "there is no tool of that name; the tools are `ask`, `end`"
    );
    let long = "x".repeat(100_000);
    assert!(ended(&registry, &long, "{}").1.len() < 2_000);
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_is_counted_as_cancelled() {
    let registry = registry();
    let mut task = Task::from_waker(Waker::noop());
    // Never polled: it has not begun.
    drop(registry.call(call("ok")));
    assert_eq!(registry.statistics().calls(), 0);
    for round in 1..=5 {
        let mut begun = Box::pin(registry.call(call("cancelled")));
        assert!(begun.as_mut().poll(&mut task).is_pending());
        assert_eq!(registry.call(call("ok")).await.status(), Status::Overloaded);
        drop(begun);
        assert_eq!(registry.statistics().ended(Status::Cancelled), round);
        // Its place is free again.
        assert!(registry.call(call("ok")).await.is_ok());
    }
    let statistics = registry.statistics();
    assert_eq!(statistics.calls(), 15);
    assert_eq!(statistics.ended(Status::Ok), 5);
    assert_eq!(statistics.ended(Status::Overloaded), 5);
}

#[tokio::test]
async fn statistics_add_up_whatever_happens_to_the_calls() {
    let registry = Registry::builder().tool(end).build().unwrap();
    let ways = ["ok", "violation", "failed", "panicked", "slow", "cancelled"];
    let mut begun = 0;
    let mut told = 0;
    for round in 0..200_usize {
        let way = ways[round % ways.len()];
        let mut call = Box::pin(registry.call(call(way)));
        let mut task = Task::from_waker(Waker::noop());
        begun += 1;
        match call.as_mut().poll(&mut task) {
            Poll::Ready(outcome) => {
                told += 1;
                assert_ne!(outcome.status(), Status::Cancelled);
            }
            Poll::Pending => drop(call),
        }
    }
    let statistics = registry.statistics();
    assert_eq!(statistics.calls(), begun);
    assert_eq!(statistics.ended(Status::Cancelled), begun - told);
}

/// Give what was given.
#[tool]
fn echo(value: Value) -> Value {
    value
}

#[tokio::test]
async fn call_json_and_check_agree_with_call() {
    let registry = Registry::builder().tool(echo).tool(end).build().unwrap();
    let outcome = registry
        .call(("", "echo", json!({"value": [1, "x"]})))
        .await;
    assert_eq!(outcome.value(), Some(json!([1, "x"])));
    let outcome = registry.call(("", "echo", json!([1]))).await;
    assert_eq!(outcome.status(), Status::InvalidArguments);
    for (way, status) in [
        ("ok", Status::Ok),
        ("panicked", Status::Ok),
        ("violation", Status::Violation),
    ] {
        let outcome = registry.check(call(way)).await;
        assert_eq!(outcome.status(), status);
    }
    let outcome = registry.check(ToolCall::new("", "end", "{}")).await;
    assert_eq!(outcome.status(), Status::InvalidArguments);
    let outcome = registry.check(ToolCall::new("", "no", "{}")).await;
    assert_eq!(outcome.status(), Status::UnknownTool);
}

struct Locked(bool);

/// Say that it was open.
#[tool]
#[pre(!door.0, "the door is locked")]
#[pre(steps > 0)]
fn enter(steps: u8, #[context] door: &Locked) -> u8 {
    let _ = (steps, door);
    unreachable!("a check never runs the body")
}

#[tokio::test]
async fn a_check_has_the_context_of_a_call() {
    let registry = Registry::builder()
        .tool(enter)
        .context(Locked(false))
        .build()
        .unwrap();
    let call = |steps: u8| ToolCall::new("", "enter", json!({"steps": steps}).to_string());
    assert!(registry.check(call(1)).await.is_ok());
    assert!(registry.check(call(1)).await.is_ok());

    // Its value comes before the registry's.
    let locked = Context::new().with(Locked(true));
    let outcome = registry.check(call(1)).context(locked).await;
    assert_eq!(outcome.violation().unwrap().contract, "enter.pre[0]");

    // Its run chooses the policy, and counts.
    let run = Run::new().policy(Policy::Observe);
    let outcome = registry
        .check(call(0))
        .context(Context::new().run(&run))
        .await;
    assert_eq!(
        (outcome.status(), outcome.observed().len()),
        (Status::Ok, 1)
    );
    assert_eq!(run.counts().violated, 1);

    // It may have been cancelled, or be too late.
    let token = CancellationToken::new();
    token.cancel();
    let cancelled = Context::new().cancellation(token);
    let outcome = registry.check(call(1)).context(cancelled).await;
    assert_eq!(outcome.status(), Status::Cancelled);
    let late = Context::new().timeout(Duration::ZERO);
    let outcome = registry.check(call(1)).context(late).await;
    assert_eq!(outcome.status(), Status::TimedOut);
}
