//! Handlers are told, and change no decision, whatever they do.

use std::sync::OnceLock;

use contract_runtime::prelude::*;
use contract_runtime::{Detection, Status};

use crate::common::{Count, Log, call};

/// Do something with a positive number.
#[tool]
#[pre(number > 0)]
fn positive(number: i64, #[context] log: &Log) -> i64 {
    log.add("body");
    number
}

/// Say hello.
#[tool]
fn hello() -> &'static str {
    "hello"
}

#[contract_runtime::pre(number > 1_000)]
fn strict(number: i64) -> i64 {
    number
}

/// What the two policies that tell a handler come to, whatever the handler does.
fn decides_alone(handler: impl Fn() + Send + Sync + Clone + 'static) {
    for policy in [Policy::Observe, Policy::Enforce] {
        let (told, log) = (Count::default(), Log::default());
        let (heard, handler) = (told.clone(), handler.clone());
        let registry = Registry::builder()
            .tool(positive)
            .context(log.clone())
            .policy(policy)
            .on_violation(move |_| {
                heard.up();
                handler();
            })
            .build()
            .unwrap();
        for round in 1..=2 {
            let outcome = call(&registry, "positive", r#"{"number":0}"#);
            assert_eq!(told.get(), round, "{policy}");
            if policy == Policy::Observe {
                assert_eq!(outcome.output(), Some("0"), "{:?}", outcome.error());
                let observed = outcome.observed().last().unwrap();
                assert_eq!(observed.contract, "positive.pre[0]");
                assert_eq!(log.take(), ["body"]);
            } else {
                let violation = outcome.violation().unwrap();
                assert_eq!(violation.contract, "positive.pre[0]");
                assert_eq!(violation.detection, Detection::PredicateFalse);
                assert!(log.take().is_empty());
            }
        }
        assert!(call(&registry, "positive", r#"{"number":1}"#).is_ok());
        assert_eq!(told.get(), 2);
    }
}

#[test]
fn a_handler_that_returns_changes_nothing() {
    decides_alone(|| {});
}

#[test]
fn a_handler_that_panics_changes_nothing() {
    decides_alone(|| panic!("the handler panicked"));
    decides_alone(|| std::panic::panic_any(7_u8));
}

#[test]
fn a_handler_that_asserts_changes_nothing() {
    decides_alone(|| contract_assert!(std::env::args().count() > 100_000, "asserted"));
}

#[test]
fn a_handler_that_breaks_a_contract_changes_nothing() {
    decides_alone(|| {
        strict(1);
    });
    decides_alone(|| {
        let _ = std::panic::catch_unwind(|| strict(1));
    });
}

/// Do something with any number, and be watched.
#[tool]
#[pre(number > 0, policy = observe)]
fn watched(number: i64) -> i64 {
    number
}

#[test]
fn a_handler_that_breaks_an_enforced_contract_does_not_end_an_observed_call() {
    let registry = Registry::builder()
        .tool(watched)
        .on_violation(|_| {
            strict(1);
        })
        .build()
        .unwrap();
    let outcome = call(&registry, "watched", r#"{"number":0}"#);
    assert_eq!(outcome.output(), Some("0"), "{:?}", outcome.error());
}

#[test]
fn what_a_handler_breaks_is_not_observed_of_the_call() {
    let registry = Registry::builder()
        .tool(positive)
        .context(Log::default())
        .policy(Policy::Observe)
        .on_violation(|_| {
            strict(1);
        })
        .build()
        .unwrap();
    let outcome = call(&registry, "positive", r#"{"number":0}"#);
    assert_eq!(outcome.observed().len(), 1);
    assert_eq!(registry.statistics().conditions.violated, 1);
}

#[test]
fn a_handler_that_calls_other_tools_changes_nothing() {
    static OTHER: OnceLock<Registry> = OnceLock::new();
    let other = Registry::builder()
        .tool(hello)
        .tool(positive)
        .context(Log::default())
        .build()
        .unwrap();
    let _ = OTHER.set(other);
    decides_alone(|| {
        let other = OTHER.get().unwrap();
        assert_eq!(call(other, "hello", "").output(), Some("hello"));
        let outcome = call(other, "positive", r#"{"number":-1}"#);
        assert_eq!(outcome.status(), Status::Violation);
    });
}

#[test]
fn a_violation_inside_a_handler_is_told_to_no_handler() {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let told = Count::default();
    let heard = told.clone();
    let registry = Registry::builder()
        .tool(positive)
        .context(Log::default())
        .on_violation(move |_| {
            heard.up();
            if let Some(registry) = REGISTRY.get() {
                let outcome = call(registry, "positive", r#"{"number":-1}"#);
                assert_eq!(outcome.status(), Status::Violation);
            }
        })
        .build()
        .unwrap();
    let _ = REGISTRY.set(registry.clone());
    let outcome = call(&registry, "positive", r#"{"number":0}"#);
    assert_eq!(outcome.status(), Status::Violation);
    assert_eq!(told.get(), 1);
    assert_eq!(registry.statistics().ended(Status::Violation), 2);
}
