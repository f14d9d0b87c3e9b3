//! Calls from text to text, and blocking calls of async tools.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Waker};
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{Artifact, Status};

use crate::common::Count;

/// Divide one number by another.
#[tool]
#[pre(divisor != 0, "cannot divide by zero")]
fn divide(dividend: i64, divisor: i64) -> Result<i64, String> {
    if dividend == 13 {
        return Err("unlucky".to_owned());
    }
    assert!(dividend != 14, "as asked");
    Ok(dividend / divisor)
}

/// The same, later.
#[tool]
#[pre(divisor != 0, "cannot divide by zero")]
async fn divide_later(dividend: i64, divisor: i64) -> Result<i64, String> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    divide(dividend, divisor)
}

/// The same, on a thread where it may block.
#[tool(blocking)]
#[pre(divisor != 0, "cannot divide by zero")]
fn divide_elsewhere(dividend: i64, divisor: i64) -> Result<i64, String> {
    divide(dividend, divisor)
}

/// The same, within a time.
#[tool(timeout = "9s")]
#[pre(divisor != 0, "cannot divide by zero")]
async fn divide_soon(dividend: i64, divisor: i64) -> Result<i64, String> {
    divide(dividend, divisor)
}

const NAMES: [&str; 4] = ["divide", "divide_later", "divide_elsewhere", "divide_soon"];

fn registry() -> Registry {
    Registry::builder()
        .tool(divide)
        .tool(divide_later)
        .tool(divide_elsewhere)
        .tool(divide_soon)
        .max_argument_bytes(100)
        .build()
        .unwrap()
}

/// Arguments of every kind, and how a call with them ends.
const CALLS: &[(&str, Status)] = &[
    (r#"{"dividend":6,"divisor":3}"#, Status::Ok),
    (r#"{"dividend":6.0,"divisor":3}"#, Status::Ok),
    (r#"{"dividend":6,"divisor":0}"#, Status::Violation),
    (r#"{"dividend":13,"divisor":1}"#, Status::Failed),
    (r#"{"dividend":14,"divisor":1}"#, Status::Panicked),
    (r#"{"dividend":"6"}"#, Status::InvalidArguments),
    ("[", Status::InvalidArguments),
];

/// What a caller reads: the result, or the status, the names and the sentence of any other outcome.
fn read(answer: Result<String, Outcome>) -> String {
    answer.unwrap_or_else(|outcome| told(&outcome))
}

fn told(outcome: &Outcome) -> String {
    let (status, error) = (outcome.status(), outcome.error());
    format!("{status} {} {} {error:?}", outcome.id(), outcome.tool())
}

fn of(outcome: &Outcome) -> String {
    let text = outcome.output().map(str::to_owned);
    text.unwrap_or_else(|| told(outcome))
}

#[tokio::test]
async fn a_call_from_text_to_text_ends_as_any_call_does() {
    let (texts, whole) = (registry(), registry());
    let long = format!(r#"{{"dividend":6,"divisor":3}}{}"#, " ".repeat(100));
    let calls = CALLS.iter().copied();
    for (arguments, status) in calls.chain([(&*long, Status::InvalidArguments)]) {
        for name in NAMES.into_iter().chain(["multiply"]) {
            let call = ("7", name, arguments);
            let answer = read(texts.call(call).text().await);
            let outcome = whole.call(call).await;
            assert_eq!(answer, of(&outcome));
            if name != "multiply" {
                assert_eq!(outcome.status(), status, "{name} {arguments}");
            }
        }
    }
    assert_eq!(texts.statistics(), whole.statistics());
}

#[test]
fn so_does_one_on_a_thread_that_runs_no_async_code() {
    let (texts, whole) = (registry(), registry());
    for &(arguments, _) in CALLS {
        for name in NAMES {
            let call = ("7", name, arguments);
            let answer = read(texts.call(call).text().blocking());
            assert_eq!(answer, of(&whole.call(call).blocking()));
        }
    }
    assert_eq!(texts.statistics(), whole.statistics());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let inside = |name| {
        let call = ("7", name, CALLS[0].0);
        let text = runtime.block_on(async { texts.call(call).text().blocking() });
        text.map_err(|outcome| outcome.status())
    };
    assert!(inside("divide").is_ok());
    assert_eq!(inside("divide_later"), Err(Status::Failed));
}

#[tokio::test]
async fn hooks_and_limits_hold_from_text_to_text() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&seen);
    let registry = Registry::builder()
        .tool(divide)
        .before_call(move |call, _| {
            hook.lock().unwrap().push(call);
            std::future::ready(Err("not today".to_owned()))
        })
        .build()
        .unwrap();
    let call = ("7", "divide", CALLS[0].0);
    let refused = registry.call(call).text().await.unwrap_err();
    assert_eq!(refused.error(), Some("not today"));
    assert_eq!(
        *seen.lock().unwrap(),
        [ToolCall::new(call.0, call.1, call.2)]
    );

    let registry = Registry::builder().tool(divide_later).max_calls(1).build();
    let registry = registry.unwrap();
    let call = ("7", "divide_later", CALLS[0].0);
    let (one, other) = tokio::join!(registry.call(call).text(), registry.call(call).text());
    assert_eq!(one.unwrap(), "2");
    assert_eq!(other.unwrap_err().status(), Status::Overloaded);
    // A future that is dropped leaves its place to the next one.
    let mut dropped = Box::pin(registry.call(call).text());
    let mut task = Task::from_waker(Waker::noop());
    assert!(dropped.as_mut().poll(&mut task).is_pending());
    drop(dropped);
    assert_eq!(registry.call(call).text().await.unwrap(), "2");
    assert_eq!(registry.statistics().ended(Status::Cancelled), 1);
}

/// Log in.
#[tool]
#[pre(key.len() > 3, "the key is too short")]
fn log_in(#[arg(secret)] key: String) -> Content {
    checked(&key);
    Content::text("welcome").with(Artifact::value("of", 1))
}

#[pre(token.len() != 7, "that one is known")]
fn checked(token: &str) {
    let _ = token;
}

#[tokio::test]
async fn a_secret_is_hidden_from_text_to_text() {
    let registry = Registry::builder().tool(log_in).build().unwrap();
    let call = ("7", "log_in", r#"{"key":"hunter2"}"#);
    let broken = registry.call(call).text().await.unwrap_err();
    let violation = broken.violation().unwrap();
    assert_eq!(violation.call_id.as_deref(), Some("7"));
    assert!(
        !format!("{violation:?}").contains("hunter2"),
        "{violation:?}"
    );
    let call = registry.call(call);
    assert!(!format!("{call:?}").contains("hunter2"), "{call:?}");
    let call = ("7", "log_in", r#"{"key":"12345"}"#);
    assert_eq!(registry.call(call).text().await.unwrap(), "welcome");
}

/// Start something that goes on for ever.
#[tool]
async fn start(#[context] count: &Count) -> usize {
    let (count, held) = (count.clone(), Held(count.clone()));
    tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop(held);
    });
    tokio::task::yield_now().await;
    count.get()
}

struct Held(Count);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.up();
    }
}

#[test]
fn what_a_body_starts_ends_with_a_blocking_call_of_it() {
    let count = Count::default();
    let registry = Registry::builder()
        .tool(start)
        .tool(divide_later)
        .context(count.clone())
        .build()
        .unwrap();
    for before in 0..3 {
        let outcome = registry.call(ToolCall::new("1", "start", "")).blocking();
        assert_eq!(outcome.output(), Some(&*before.to_string()));
        assert_eq!(count.get(), before + 1);
        let call = ("2", "divide_later", CALLS[0].0);
        assert_eq!(registry.call(call).text().blocking().unwrap(), "2");
    }
}

/// Return an id that is not the same as the one before.
#[tool]
async fn runtime() -> String {
    tokio::runtime::Handle::current().id().to_string()
}

#[test]
fn blocking_calls_of_async_tools_share_a_runtime() {
    let registry = Registry::builder().tool(runtime).build().unwrap();
    let call = || {
        let outcome = registry.call(ToolCall::new("1", "runtime", "")).blocking();
        outcome.output().unwrap().to_owned()
    };
    let ids: std::collections::HashSet<String> = (0..100).map(|_| call()).collect();
    // Other tests of this program take them as well, and at most eight lie idle.
    assert!(ids.len() < 50, "{}", ids.len());
}

#[tokio::test]
async fn the_future_of_a_call_is_small() {
    let registry = registry();
    let call = ToolCall::new("7", "divide_later", CALLS[0].0);
    let size = std::mem::size_of_val(&registry.call(call.clone()));
    assert!(size <= 512, "{size} bytes");
    let size = std::mem::size_of_val(&registry.call(&call).text());
    assert!(size <= 512, "{size} bytes");
}
