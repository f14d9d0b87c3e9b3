//! Tools that call tools.

use std::sync::Arc;

use contract_runtime::prelude::*;
use contract_runtime::{Blame, Run, Status};

use crate::common::call;

/// Halve an even number.
#[tool]
#[pre(number % 2 == 0, "{number} is odd")]
fn halve(number: i64) -> i64 {
    number / 2
}

struct Inner(Registry);

/// Halve by name, and say how that went.
#[tool]
async fn by_name(number: i64, #[context] inner: &Inner) -> String {
    let call = ToolCall::new("inner", "halve", format!(r#"{{"number":{number}}}"#));
    let outcome = inner.0.call(call).await;
    match outcome.violation() {
        Some(violation) => format!("{:?} of {:?}", violation.blame, violation.call_id),
        None => outcome.output().unwrap_or_default().to_owned(),
    }
}

/// Halve by name, without awaiting.
#[tool]
fn by_name_at_once(number: i64, #[context] inner: &Inner) -> String {
    let call = ToolCall::new("inner", "halve", format!(r#"{{"number":{number}}}"#));
    inner
        .0
        .call(call)
        .blocking()
        .into_result()
        .text()
        .to_owned()
}

/// Halve directly.
#[tool]
fn directly(number: i64) -> i64 {
    halve(number)
}

fn registries() -> (Registry, Registry) {
    let inner = Registry::builder().tool(halve).build().unwrap();
    let outer = Registry::builder()
        .tool(by_name)
        .tool(by_name_at_once)
        .tool(directly)
        .context_arc(Arc::new(Inner(inner.clone())))
        .build()
        .unwrap();
    (inner, outer)
}

#[test]
fn the_outcome_of_an_inner_call_belongs_to_the_inner_call() {
    let (inner, outer) = registries();
    let outcome = call(&outer, "by_name", r#"{"number":3}"#);
    assert_eq!(outcome.output(), Some(r#"Model of Some("inner")"#));
    let outcome = call(&outer, "by_name", r#"{"number":4}"#);
    assert_eq!(outcome.output(), Some("2"));
    let outcome = call(&outer, "by_name_at_once", r#"{"number":3}"#);
    assert!(outcome.output().unwrap().contains("3 is odd"));
    assert_eq!(inner.statistics().ended(Status::Violation), 2);
    assert_eq!(outer.statistics().ended(Status::Violation), 0);
    assert_eq!(outer.statistics().ended(Status::Ok), 3);
}

#[test]
fn a_direct_call_of_a_tool_belongs_to_the_call_around_it() {
    let (inner, outer) = registries();
    let outcome = call(&outer, "directly", r#"{"number":3}"#);
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.blame, Blame::Caller);
    assert_eq!(violation.contract, "halve.pre[0]");
    assert_eq!(inner.statistics().calls(), 0);
    assert_eq!(outer.statistics().conditions.violated, 1);
}

#[test]
fn the_policy_of_a_run_reaches_what_a_body_calls_directly() {
    let (_, outer) = registries();
    let run = Run::new().policy(Policy::Observe);
    let call = ToolCall::new("1", "directly", r#"{"number":3}"#);
    let outcome = outer
        .call(call)
        .context(Context::new().run(&run))
        .blocking();
    assert_eq!(outcome.output(), Some("1"));
    assert_eq!(outcome.observed().len(), 1);
    assert_eq!(run.counts().violated, 1);
}

#[test]
fn clones_of_a_registry_are_one_registry() {
    let (inner, _) = registries();
    let clone = inner.clone();
    let _ = call(&clone, "halve", r#"{"number":4}"#);
    assert_eq!(inner.statistics(), clone.statistics());
    assert_eq!(inner.statistics().calls(), 1);
}

/// Halve by name, on a thread that may wait.
#[tool(blocking)]
fn by_name_off_the_async_threads(number: i64, #[context] inner: &Inner) -> String {
    let text = format!(r#"{{"number":{number}}}"#);
    let waited = inner.0.call(ToolCall::new("w", "wait", "")).blocking();
    let halved = inner.0.call(ToolCall::new("h", "halve", text)).blocking();
    format!("{} {}", waited.status(), halved.into_result().text())
}

/// Wait for a moment.
#[tool]
async fn wait() {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
}

#[tokio::test]
async fn a_blocking_body_may_wait_for_another_call() {
    let inner = Registry::builder().tool(halve).tool(wait).build().unwrap();
    let registry = Registry::builder()
        .tool(by_name_off_the_async_threads)
        .context(Inner(inner))
        .build()
        .unwrap();
    let name = "by_name_off_the_async_threads";
    let arguments = serde_json::json!({"number": 4});
    assert_eq!(
        registry.call(("", name, arguments)).await.output(),
        Some("ok 2")
    );
}

#[tokio::test]
async fn a_call_inside_a_call_is_part_of_the_same_run() {
    let inner = Registry::builder().tool(halve).build().unwrap();
    let registry = Registry::builder()
        .tool(by_name)
        .context(Inner(inner))
        .build()
        .unwrap();
    let run = Run::new().policy(Policy::Observe);
    let call = ToolCall::new("outer", "by_name", r#"{"number":3}"#);
    let outcome = registry.call(call).context(Context::new().run(&run)).await;
    assert_eq!(outcome.output(), Some("1"));
    assert_eq!((run.counts().evaluated, run.counts().violated), (1, 1));
}
