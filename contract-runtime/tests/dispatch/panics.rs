//! Whatever panics, the caller gets an outcome.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::panic_any;
use std::pin::Pin;
use std::task::{Context as Task, Poll, Waker};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

/// A payload that panics when it is dropped, with a payload that does so as well.
struct Bomb(u8);

impl Drop for Bomb {
    fn drop(&mut self) {
        if let Some(left) = self.0.checked_sub(1) {
            panic_any(Bomb(left));
        }
    }
}

/// Panics where it is told to.
struct Shaky(String);

impl<'de> Deserialize<'de> for Shaky {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        assert!(text != "deserialize", "as asked");
        Ok(Self(text))
    }
}

impl Serialize for Shaky {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(self.0 != "serialize", "as asked");
        if self.0 == "serialize error" {
            return Err(serde::ser::Error::custom("it would not be written"));
        }
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Shaky {
    fn schema_name() -> Cow<'static, str> {
        "Shaky".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

impl Drop for Shaky {
    fn drop(&mut self) {
        assert!(self.0 != "drop" || std::thread::panicking(), "as asked");
    }
}

struct ShakyError(&'static str);

impl fmt::Display for ShakyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(self.0 != "display", "as asked");
        if self.0 == "display error" {
            return Err(fmt::Error);
        }
        f.write_str(self.0)
    }
}

impl Drop for ShakyError {
    fn drop(&mut self) {
        assert!(
            self.0 != "error drop" || std::thread::panicking(),
            "as asked"
        );
    }
}

/// Panics when it is dropped unfinished.
struct Guard(bool);

impl Drop for Guard {
    fn drop(&mut self) {
        assert!(!self.0 || std::thread::panicking(), "as asked");
    }
}

fn blow(how: &str) {
    match how {
        "str" => panic!("as asked"),
        "string" => panic!("as {how}"),
        "number" => panic_any(5_u64),
        "unit" => panic_any(()),
        "box" => panic_any(Box::new(5) as Box<dyn Any + Send>),
        "bomb" => panic_any(Bomb(3)),
        "resume" => std::panic::resume_unwind(Box::new("quiet")),
        "index" => {
            let _ = how.as_bytes()[100];
        }
        _ => {}
    }
}

/// Panic somewhere.
#[tool]
fn sync(shaky: Shaky, how: &str) -> Result<Shaky, ShakyError> {
    blow(how);
    match how {
        "display" => Err(ShakyError("display")),
        "display error" => Err(ShakyError("display error")),
        "error drop" => Err(ShakyError("error drop")),
        _ => Ok(shaky),
    }
}

/// Panic somewhere on a thread.
#[tool(blocking)]
fn blocking(shaky: Shaky, how: &str) -> Result<Shaky, ShakyError> {
    sync(shaky, how)
}

/// Panic somewhere before the first await.
#[tool]
async fn at_first(shaky: Shaky, how: &str) -> Result<Shaky, ShakyError> {
    let result = sync(shaky, how);
    tokio::task::yield_now().await;
    result
}

/// Panic somewhere behind an await.
#[tool]
async fn later(shaky: Shaky, how: &str) -> Result<Shaky, ShakyError> {
    tokio::task::yield_now().await;
    sync(shaky, how)
}

/// Wait for ever, and panic when that is given up.
#[tool(timeout = "10ms")]
async fn guarded() {
    let _guard = Guard(true);
    std::future::pending::<()>().await;
}

/// Consume an argument that panics when it is dropped.
#[tool]
fn consumed(shaky: Shaky) -> usize {
    shaky.0.len()
}

/// Lend an argument that panics when it is dropped.
#[tool]
fn lent(shaky: &Shaky) -> usize {
    shaky.0.len()
}

fn registry() -> Registry {
    Registry::builder()
        .tool(sync)
        .tool(blocking)
        .tool(at_first)
        .tool(later)
        .tool(guarded)
        .tool(consumed)
        .tool(lent)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_panic_anywhere_is_one_outcome() {
    let registry = registry();
    let mut calls = 0;
    for name in ["sync", "blocking", "at_first", "later"] {
        for how in [
            "str", "string", "number", "unit", "box", "bomb", "resume", "index", "display",
        ] {
            let arguments = json!({"shaky": "x", "how": how});
            let outcome = registry.call(("", name, arguments)).await;
            assert_eq!(outcome.status(), Status::Panicked, "{name} {how}");
            let error = outcome.error().unwrap();
            assert!(
                error.contains("panicked") && !error.contains("asked"),
                "{error}"
            );
            calls += 1;
        }
        for shaky in ["deserialize", "serialize", "drop"] {
            let arguments = json!({"shaky": shaky, "how": ""});
            let outcome = registry.call(("", name, arguments)).await;
            assert_eq!(outcome.status(), Status::Panicked, "{name} {shaky}");
            calls += 1;
        }
        for (shaky, how) in [
            ("serialize error", ""),
            ("x", "display error"),
            ("x", "error drop"),
        ] {
            let arguments = json!({"shaky": shaky, "how": how});
            let outcome = registry.call(("", name, arguments)).await;
            assert!(
                [Status::Failed, Status::Panicked].contains(&outcome.status()),
                "{name} {shaky} {how} {}",
                outcome.status()
            );
            calls += 1;
        }
        let fine = registry
            .call(("", name, json!({"shaky": "x", "how": ""})))
            .await;
        assert_eq!(fine.output(), Some("x"));
        calls += 1;
    }
    for name in ["consumed", "lent"] {
        let outcome = registry.call(("", name, json!({"shaky": "drop"}))).await;
        assert_eq!(outcome.status(), Status::Panicked, "{name}");
        calls += 1;
    }
    assert_eq!(registry.statistics().calls(), calls);
}

#[tokio::test]
async fn a_future_that_panics_when_it_is_dropped_harms_nobody() {
    let registry = registry();
    let outcome = registry.call(("", "guarded", json!({}))).await;
    assert_eq!(outcome.status(), Status::TimedOut);
    let mut begun: Pin<Box<_>> = Box::pin(registry.call(("", "guarded", json!({}))));
    let polled = begun.as_mut().poll(&mut Task::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Pending));
    drop(begun);
    let token = CancellationToken::new();
    let context = Context::new().cancellation(token.clone());
    let waiting = registry
        .call(ToolCall::new("", "guarded", ""))
        .context(context);
    let (outcome, ()) = tokio::join!(waiting, async { token.cancel() });
    assert_eq!(outcome.status(), Status::Cancelled);
    assert_eq!(registry.statistics().calls(), 3);
}

#[tokio::test]
async fn a_context_value_that_panics_when_it_is_dropped_harms_nobody() {
    let registry = registry();
    for name in ["sync", "blocking", "later"] {
        let context = Context::new().with(Guard(true));
        let call = ToolCall::new("", name, r#"{"shaky":"x","how":""}"#);
        let outcome = tokio::spawn({
            let registry = registry.clone();
            async move { registry.call(call).context(context).await }
        });
        let outcome = outcome.await.map_err(|_| name);
        assert_eq!(outcome.map(|outcome| outcome.is_ok()), Ok(true));
    }
}

#[test]
fn a_type_that_panics_when_it_is_asked_for_its_schema_is_a_build_problem() {
    struct NoSchema;
    impl<'de> Deserialize<'de> for NoSchema {
        fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Ok(Self)
        }
    }
    impl JsonSchema for NoSchema {
        fn schema_name() -> Cow<'static, str> {
            "NoSchema".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            panic!("as asked")
        }
    }
    /// Take it.
    #[tool]
    fn take(value: NoSchema) {
        let NoSchema = value;
    }
    let error = Registry::builder().tool(take).build().unwrap_err();
    assert!(error.to_string().contains("`take`"), "{error}");
}

/// Say what happens.
#[tool]
fn narrate(#[context] log: &Log, #[context] progress: &Progress) -> u8 {
    log.info("begun");
    progress.report(1.0, None, "half way");
    3
}

#[test]
fn a_listener_that_panics_is_no_fault_of_the_tool() {
    let registry = Registry::builder().tool(narrate).build().unwrap();
    for context in [
        Context::new().log(|_| panic_any(Bomb(2))),
        Context::new().progress(Progress::new(|_| panic_any(Bomb(2)))),
    ] {
        let call = ToolCall::new("1", "narrate", "");
        let outcome = registry.call(call).context(context).blocking();
        assert_eq!(outcome.output(), Some("3"), "{outcome:?}");
    }
}

#[test]
fn a_listener_that_panics_keeps_nothing_from_the_next() {
    let registry = Registry::builder().tool(narrate).build().unwrap();
    let (sender, heard) = std::sync::mpsc::channel();
    let context = Context::new()
        .log(|_| panic_any(Bomb(2)))
        .log(move |record| drop(sender.send(record.message.clone())));
    let outcome = registry
        .call(ToolCall::new("1", "narrate", ""))
        .context(context)
        .blocking();
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(heard.iter().collect::<Vec<_>>(), ["begun"]);
}
