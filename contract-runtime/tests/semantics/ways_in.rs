//! Every way in is checked, and every way out is seen.

use std::panic::{AssertUnwindSafe, catch_unwind};

use contract_runtime::prelude::*;
use contract_runtime::{Blame, ConditionKind, ContractScope, Status, catch, catch_async};

use crate::common::{Log, call, ended};

/// Divide one number by another.
#[tool]
#[pre(divisor != 0.0, "cannot divide by zero")]
#[post(|quotient| quotient.is_finite(), "the quotient must be finite")]
fn divide(dividend: f64, divisor: f64) -> f64 {
    dividend / divisor
}

/// Divide one number by another, later.
#[tool]
#[pre(divisor != 0.0, "cannot divide by zero")]
#[post(|quotient| quotient.is_finite(), "the quotient must be finite")]
async fn divide_later(dividend: f64, divisor: f64) -> f64 {
    tokio::task::yield_now().await;
    dividend / divisor
}

#[pre(divisor != 0, "cannot divide by zero")]
fn ratio(dividend: i64, divisor: i64) -> i64 {
    dividend / divisor
}

#[pre(divisor != 0, "cannot divide by zero")]
async fn ratio_later(dividend: i64, divisor: i64) -> i64 {
    tokio::task::yield_now().await;
    dividend / divisor
}

fn helper(divisor: i64) {
    contract_assert!(divisor != 0, "cannot divide by zero");
}

/// Call a contracted function from inside a body.
#[tool]
fn nested(dividend: i64, divisor: i64, #[context] log: &Log) -> i64 {
    log.add("before");
    let ratio = ratio(dividend, divisor);
    log.add("after");
    ratio
}

/// Await a contracted function inside a body.
#[tool]
async fn nested_later(dividend: i64, divisor: i64, #[context] log: &Log) -> i64 {
    log.add("before");
    let ratio = ratio_later(dividend, divisor).await;
    log.add("after");
    ratio
}

/// Call another tool as the function it is.
#[tool]
fn nested_tool(dividend: f64, divisor: f64, #[context] log: &Log) -> f64 {
    log.add("before");
    let quotient = divide(dividend, divisor);
    log.add("after");
    quotient
}

/// Call a helper that asserts.
#[tool]
fn nested_assert(divisor: i64, #[context] log: &Log) -> i64 {
    log.add("before");
    helper(divisor);
    log.add("after");
    divisor
}

fn registry(log: &Log) -> Registry {
    Registry::builder()
        .tool(divide)
        .tool(divide_later)
        .tool(nested)
        .tool(nested_later)
        .tool(nested_tool)
        .tool(nested_assert)
        .tool(swallow)
        .tool(swallow_later)
        .tool(swallow_in_a_result)
        .tool(caught_inside)
        .context(log.clone())
        .build()
        .unwrap()
}

#[test]
fn a_call_by_name_obeys_its_conditions_and_blames_the_model() {
    let registry = registry(&Log::default());
    for name in ["divide", "divide_later"] {
        let outcome = call(&registry, name, r#"{"dividend":1,"divisor":0}"#);
        let violation = outcome.violation().unwrap();
        assert_eq!(violation.contract, format!("{name}.pre[0]"));
        assert_eq!(violation.blame, Blame::Model);
        assert_eq!(violation.call_id.as_deref(), Some("1"));
        let outcome = call(&registry, name, r#"{"dividend":1e308,"divisor":1e-308}"#);
        let violation = outcome.violation().unwrap();
        assert_eq!(violation.contract, format!("{name}.post[1]"));
        assert_eq!(violation.blame, Blame::Callee);
    }
}

#[test]
#[should_panic(expected = "cannot divide")]
fn a_direct_call_of_a_tool_panics_with_the_message() {
    let _ = divide(1.0, 0.0);
}

#[test]
#[should_panic(expected = "cannot divide")]
fn a_direct_call_of_a_contracted_function_panics_with_the_message() {
    let _ = ratio(1, 0);
}

#[test]
#[should_panic(expected = "cannot divide")]
fn an_assertion_in_a_helper_panics_with_the_message() {
    helper(0);
}

#[tokio::test]
#[should_panic(expected = "cannot divide")]
async fn an_awaited_tool_panics_with_the_message() {
    let _ = divide_later(1.0, 0.0).await;
}

#[test]
#[should_panic(expected = "the quotient must be finite")]
fn a_broken_promise_panics_with_the_message() {
    let _ = divide(f64::MAX, f64::MIN_POSITIVE);
}

#[test]
fn the_panic_of_a_violation_carries_a_plain_string() {
    let payload = catch_unwind(|| ratio(1, 0)).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("cannot divide by zero; "), "{text}");
}

#[test]
fn catch_gives_the_violation_of_a_direct_call_and_blames_its_caller() {
    assert_eq!(catch(|| divide(6.0, 3.0)), Ok(2.0));
    let violation = catch(|| divide(1.0, 0.0)).unwrap_err();
    assert_eq!(violation.blame, Blame::Caller);
    assert_eq!(violation.kind, ConditionKind::Pre);
    assert_eq!(violation.tool, "divide");
    assert_eq!(violation.call_id, None);
    let violation = catch(|| divide(f64::MAX, f64::MIN_POSITIVE)).unwrap_err();
    assert_eq!(violation.blame, Blame::Callee);
}

#[tokio::test]
async fn catch_async_gives_the_violation_of_an_awaited_call() {
    assert_eq!(catch_async(divide_later(6.0, 3.0)).await, Ok(2.0));
    let violation = catch_async(divide_later(1.0, 0.0)).await.unwrap_err();
    assert_eq!(violation.contract, "divide_later.pre[0]");
    let violation = catch_async(ratio_later(1, 0)).await.unwrap_err();
    assert_eq!(violation.blame, Blame::Caller);
}

#[test]
fn catch_passes_on_a_panic_that_is_no_violation() {
    let payload = catch_unwind(|| {
        let _ = catch(|| -> i32 { std::panic::panic_any(17_u8) });
    })
    .unwrap_err();
    assert_eq!(payload.downcast_ref::<u8>(), Some(&17));
}

#[test]
fn catch_does_not_forget_a_violation_that_was_swallowed_inside() {
    let violation = catch(|| catch_unwind(|| ratio(1, 0)).unwrap_or(5)).unwrap_err();
    assert_eq!(violation.tool, "ratio");
}

#[test]
fn a_catch_inside_a_catch_keeps_its_violation_to_itself() {
    let outer = catch(|| catch(|| ratio(1, 0)).is_err());
    assert_eq!(outer, Ok(true));
}

#[test]
fn a_violation_below_a_body_ends_the_call() {
    let log = Log::default();
    let registry = registry(&log);
    for (name, tool) in [
        ("nested", "ratio"),
        ("nested_later", "ratio_later"),
        ("nested_tool", "divide"),
    ] {
        let outcome = call(&registry, name, r#"{"dividend":1,"divisor":0}"#);
        let violation = outcome.violation().unwrap();
        assert_eq!(violation.tool, tool);
        // The body called it, not the model.
        assert_eq!(violation.blame, Blame::Caller);
        assert_eq!(violation.call_id.as_deref(), Some("1"));
        assert_eq!(log.take(), ["before"]);
        let outcome = call(&registry, name, r#"{"dividend":4,"divisor":2}"#);
        assert!(outcome.is_ok());
        assert_eq!(log.take(), ["before", "after"]);
    }
    let outcome = call(&registry, "nested_assert", r#"{"divisor":0}"#);
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.kind, ConditionKind::Assert);
    assert_eq!(violation.blame, Blame::Callee);
    assert_eq!(log.take(), ["before"]);
}

/// Map the panic of a violation away.
#[tool]
fn swallow(divisor: i64, #[context] log: &Log) -> i64 {
    let ratio = catch_unwind(AssertUnwindSafe(|| ratio(1, divisor))).unwrap_or(-1);
    log.add("went on");
    ratio
}

/// Map the panic of a violation away, in a task.
#[tool]
async fn swallow_later(divisor: i64, #[context] log: &Log) -> i64 {
    let ratio = ContractScope::current().wrap(ratio_later(1, divisor));
    let ratio = tokio::spawn(ratio).await.unwrap_or(-1);
    log.add("went on");
    ratio
}

/// Make an error of the panic of a violation.
#[tool]
fn swallow_in_a_result(divisor: i64) -> Result<i64, String> {
    catch_unwind(|| ratio(1, divisor)).map_err(|_| "an ordinary failure".to_owned())
}

/// Ask politely.
#[tool]
fn caught_inside(divisor: i64) -> String {
    match catch(|| ratio(1, divisor)) {
        Ok(ratio) => ratio.to_string(),
        Err(violation) => format!("no: {}", violation.contract),
    }
}

#[test]
fn mapping_the_panic_away_does_not_undo_a_violation() {
    let log = Log::default();
    let registry = registry(&log);
    for name in ["swallow", "swallow_later", "swallow_in_a_result"] {
        let (status, error) = ended(&registry, name, r#"{"divisor":0}"#);
        assert_eq!(status, Status::Violation, "{name}: {error}");
        assert!(error.contains("broke a contract of its own"), "{error}");
    }
    assert_eq!(log.take(), ["went on", "went on"]);
    assert!(call(&registry, "swallow", r#"{"divisor":1}"#).is_ok());
}

#[test]
fn catch_inside_a_body_handles_a_violation_for_good() {
    let registry = registry(&Log::default());
    let outcome = call(&registry, "caught_inside", r#"{"divisor":0}"#);
    assert_eq!(outcome.output(), Some("no: ratio.pre[0]"));
}

struct Meter {
    most: u32,
}

#[tool]
impl Meter {
    /// Take a reading.
    #[tool]
    #[pre(reading <= self.most, "{reading} is beyond the end of the meter")]
    #[post(|kept| *kept <= self.most)]
    fn read(&self, reading: u32) -> u32 {
        reading
    }
}

#[test]
fn a_method_is_checked_by_name_and_directly() {
    let meter = std::sync::Arc::new(Meter { most: 9 });
    assert_eq!(meter.read(9), 9);
    assert!(catch(|| meter.read(10)).is_err());
    let registry = Registry::builder().with(meter).build().unwrap();
    assert!(call(&registry, "read", r#"{"reading":9}"#).is_ok());
    let (status, error) = ended(&registry, "read", r#"{"reading":10}"#);
    assert_eq!(status, Status::Violation);
    assert_eq!(error, "10 is beyond the end of the meter");
}

/// Fail inside a future that is dropped before its end.
#[tool]
async fn fails_inside_a_dropped_future() -> i32 {
    let inside = async {
        let _ = std::panic::catch_unwind(|| contract_runtime::contract_assert!(1 > 2));
        std::future::pending::<()>().await;
    };
    let mut caught = Box::pin(contract_runtime::catch_async(inside));
    std::future::poll_fn(|task| {
        assert!(caught.as_mut().poll(task).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    drop(caught);
    3
}

#[tokio::test]
async fn a_violation_that_nobody_waits_for_ends_the_call_around_it() {
    let registry = Registry::builder()
        .tool(fails_inside_a_dropped_future)
        .build()
        .unwrap();
    let outcome = registry
        .call(("", "fails_inside_a_dropped_future", serde_json::json!({})))
        .await;
    assert_eq!(outcome.status(), Status::Violation);
}

/// A result whose destructor panics.
#[derive(serde::Serialize)]
struct Fragile(u8);

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Break a promise with a fragile result.
#[tool]
#[post(|fragile| fragile.0 > 0)]
fn fragile() -> Fragile {
    Fragile(0)
}

#[test]
fn a_broken_promise_ends_the_call_even_where_the_result_panics_when_dropped() {
    let registry = Registry::builder().tool(fragile).build().unwrap();
    let outcome = registry.call(ToolCall::new("1", "fragile", "")).blocking();
    assert_eq!(outcome.status(), Status::Violation);
}
