//! Observers are told, and change no decision, whatever they do.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::prelude::*;
use contract_runtime::{Detection, Effect, Run, Status};

use serde_json::json;

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

/// What the two policies that tell an observer come to, whatever the observer does.
fn decides_alone(react: impl Fn() + Send + Sync + Clone + 'static) {
    for policy in [Policy::Observe, Policy::Enforce] {
        let (told, log) = (Count::default(), Log::default());
        let (heard, react) = (told.clone(), react.clone());
        let registry = Registry::builder()
            .tool(positive)
            .context(log.clone())
            .policy(policy)
            .observe(Observer::new().violations(move |_| {
                heard.up();
                react();
            }))
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
fn an_observer_that_returns_changes_nothing() {
    decides_alone(|| {});
}

#[test]
fn an_observer_that_panics_changes_nothing() {
    decides_alone(|| panic!("the observer panicked"));
    decides_alone(|| std::panic::panic_any(7_u8));
}

#[test]
fn an_observer_that_asserts_changes_nothing() {
    decides_alone(|| contract_assert!(std::env::args().count() > 100_000, "asserted"));
}

#[test]
fn an_observer_that_breaks_a_contract_changes_nothing() {
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
fn an_observer_that_breaks_an_enforced_contract_does_not_end_an_observed_call() {
    let registry = Registry::builder()
        .tool(watched)
        .observe(Observer::new().violations(|_| {
            strict(1);
        }))
        .build()
        .unwrap();
    let outcome = call(&registry, "watched", r#"{"number":0}"#);
    assert_eq!(outcome.output(), Some("0"), "{:?}", outcome.error());
}

#[test]
fn what_an_observer_breaks_is_not_observed_of_the_call() {
    let registry = Registry::builder()
        .tool(positive)
        .context(Log::default())
        .policy(Policy::Observe)
        .observe(Observer::new().violations(|_| {
            strict(1);
        }))
        .build()
        .unwrap();
    let outcome = call(&registry, "positive", r#"{"number":0}"#);
    assert_eq!(outcome.observed().len(), 1);
    assert_eq!(registry.statistics().conditions.violated, 1);
}

#[test]
fn an_observer_that_calls_other_tools_changes_nothing() {
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
fn a_violation_inside_an_observer_is_told_to_no_observer() {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let told = Count::default();
    let heard = told.clone();
    let registry = Registry::builder()
        .tool(positive)
        .context(Log::default())
        .observe(Observer::new().violations(move |_| {
            heard.up();
            if let Some(registry) = REGISTRY.get() {
                let outcome = call(registry, "positive", r#"{"number":-1}"#);
                assert_eq!(outcome.status(), Status::Violation);
            }
        }))
        .build()
        .unwrap();
    let _ = REGISTRY.set(registry.clone());
    let outcome = call(&registry, "positive", r#"{"number":0}"#);
    assert_eq!(outcome.status(), Status::Violation);
    assert_eq!(told.get(), 1);
    assert_eq!(registry.statistics().ended(Status::Violation), 2);
}

/// An observer that writes down everything under a name.
fn everything(name: &'static str, log: &Log) -> Observer {
    let (began, ended, events) = (log.clone(), log.clone(), log.clone());
    Observer::new()
        .call_began(move |observed| began.add(format!("{name}: began {}", observed.call.name)))
        .call_ended(move |_, outcome, _| ended.add(format!("{name}: {}", outcome.status())))
        .events(move |event| {
            events.add(match event {
                CheckEvent::Check(check) => format!("{name}: check {}", check.contract),
                CheckEvent::Violation(broken) => format!("{name}: broken {}", broken.contract),
                CheckEvent::Entered { tool, .. } => format!("{name}: into {tool}"),
                CheckEvent::Ended(broken) => format!("{name}: ended by {}", broken.contract),
                _ => format!("{name}: something else"),
            });
        })
}

/// What a registry, a run and a context are told of one call.
fn told_of(policy: Policy, number: i64) -> Vec<String> {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(positive)
        .context(Log::default())
        .policy(policy)
        .observe(everything("registry", &log))
        .build()
        .unwrap();
    let run = Run::new().observe(everything("run", &log));
    let context = Context::new()
        .run(&run)
        .observe(everything("context", &log));
    let arguments = format!(r#"{{"number":{number}}}"#);
    let _ = registry
        .call(("1", "positive", &*arguments))
        .context(context)
        .blocking();
    log.take()
}

/// The same events for each of the three.
fn for_all(events: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = ["context", "run", "registry"]
        .iter()
        .flat_map(|name| events.iter().map(move |event| format!("{name}: {event}")))
        .collect();
    all.sort();
    all
}

#[test]
fn every_observer_is_told_of_every_event_once() {
    let mut told = told_of(Policy::Enforce, 0);
    told.sort();
    let events = [
        "began positive",
        "check positive.pre[0]",
        "broken positive.pre[0]",
        "ended by positive.pre[0]",
        "violation",
    ];
    assert_eq!(told, for_all(&events));
    let mut told = told_of(Policy::Enforce, 1);
    told.sort();
    let events = [
        "began positive",
        "check positive.pre[0]",
        "into positive",
        "ok",
    ];
    assert_eq!(told, for_all(&events));
}

#[test]
fn a_quickly_enforced_violation_is_told_as_the_end_of_its_call() {
    let mut told = told_of(Policy::QuickEnforce, 0);
    told.sort();
    let events = [
        "began positive",
        "check positive.pre[0]",
        "ended by positive.pre[0]",
        "violation",
    ];
    assert_eq!(told, for_all(&events));
}

#[test]
fn an_observer_of_calls_is_told_the_user_the_effect_and_the_duration() {
    let log = Log::default();
    let (began, ended) = (log.clone(), log.clone());
    let observer = Observer::new()
        .call_began(move |observed| {
            let user: Option<&&str> = observed.context.get();
            began.add(format!("{:?} for {user:?}", observed.context.caller()));
        })
        .call_ended(move |_, outcome, duration| {
            assert!(duration >= Duration::from_millis(5), "{duration:?}");
            assert_eq!(outcome.effect(), Effect::Complete);
            ended.add(outcome.output().unwrap_or_default());
        });
    /// Wait.
    #[tool]
    fn wait() -> &'static str {
        std::thread::sleep(Duration::from_millis(5));
        "waited"
    }
    let registry = Registry::builder()
        .tool(wait)
        .observe(observer)
        .build()
        .unwrap();
    let context = Context::new().identified_as("ada").with("Ada Lovelace");
    let _ = registry
        .call(("1", "wait", "{}"))
        .context(context)
        .blocking();
    let expected = [r#"Some("ada") for Some("Ada Lovelace")"#, "waited"];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_trial_is_told_to_the_observers_of_its_own_context() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(positive)
        .context(Log::default())
        .observe(everything("registry", &log))
        .build()
        .unwrap();
    let context = Context::new().observe(everything("context", &log));
    let check = || registry.check(("1", "positive", r#"{"number":0}"#));
    let _ = check().every_condition().context(context).blocking();
    let told = [
        "context: check positive.pre[0]",
        "context: broken positive.pre[0]",
    ];
    assert_eq!(log.take(), told);
    let _ = check().blocking();
    assert_eq!(
        log.take(),
        [
            "registry: check positive.pre[0]",
            "registry: broken positive.pre[0]"
        ]
    );
}

#[tokio::test]
async fn a_dropped_call_has_no_end() {
    /// Wait.
    #[tool]
    async fn wait() {
        std::future::pending::<()>().await;
    }
    let log = Log::default();
    let registry = Registry::builder()
        .tool(wait)
        .observe(everything("registry", &log))
        .build()
        .unwrap();
    let call = registry.call(("1", "wait", "{}"));
    let waited = tokio::time::timeout(Duration::from_millis(5), call).await;
    assert!(waited.is_err());
    assert_eq!(log.take(), ["registry: began wait"]);
}

#[test]
fn a_run_within_another_and_one_for_a_session_keep_every_observer() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(positive)
        .context(Log::default())
        .build()
        .unwrap();
    let outer = Run::new().observe(everything("outer", &log));
    let inner = Run::new()
        .observe(everything("inner", &log))
        .policy(Policy::Enforce);
    let runs = [
        (inner.clone().within(&Context::new().run(&outer)), 8),
        (inner.for_session(), 4),
        (inner.without_history(), 4),
        (inner.turn(), 4),
    ];
    for (run, times) in runs {
        let call = registry.call(("1", "positive", r#"{"number":1}"#));
        let _ = call.context(Context::new().run(&run)).blocking();
        assert_eq!(log.take().len(), times);
    }
}

/// Register a patient.
#[tool]
fn register(name: String, #[arg(secret)] phone: String) {
    let _ = (name, phone);
}

#[test]
fn an_observer_of_calls_reads_arguments_for_a_log() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let observer = Observer::new().call_ended(move |observed, _, _| {
        noted.lock().unwrap().push(observed.arguments.clone());
    });
    let registry = Registry::builder()
        .tool(register)
        .tool(hello)
        .observe(observer);
    let registry = registry.build().unwrap();
    let expected = [
        (
            "register",
            r#"{"name":"ada","phone":"555"}"#,
            json!({"name": "ada", "phone": "***"}),
        ),
        ("hello", "", json!({})),
        // The model has put the secret under a name of its own.
        (
            "register",
            r#"{"name":"ada","phones":"555"}"#,
            json!({"name": "ada", "phones": "***"}),
        ),
        ("register", r#"{"name":"ada","phone":"555""#, json!("***")),
        ("register", r#"["555"]"#, json!("***")),
        ("registers", r#"{"name":"ada","phone":"555"}"#, json!("***")),
    ];
    for (tool, arguments, _) in &expected {
        let _ = registry.call(("1", *tool, *arguments)).blocking();
    }
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, expected.map(|(_, _, arguments)| arguments));
}
