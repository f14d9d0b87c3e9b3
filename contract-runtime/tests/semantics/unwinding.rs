//! Conditions in destructors that run while a panic unwinds: a second panic there would end the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{Status, catch};

use crate::common::{Count, Log, call};

/// Asserts that it is closed before it is dropped.
struct Door<'l>(&'l Log);

impl Drop for Door<'_> {
    fn drop(&mut self) {
        contract_assert!(false, "the door is open");
        self.0.add("the drop went on after the assertion");
        lock(0);
        self.0.add("the drop went on after the precondition");
        assert_eq!(turned(7), 7);
        self.0.add("the drop went on after the postcondition");
        unlock(None);
    }
}

const WENT_ON: [&str; 3] = [
    "the drop went on after the assertion",
    "the drop went on after the precondition",
    "the drop went on after the postcondition",
];

#[pre(turns > 0, "the key must be turned")]
fn lock(turns: u32) {
    let _ = turns;
}

#[post(|angle| *angle == 0, "the key is back where it was")]
fn turned(angle: u32) -> u32 {
    angle
}

#[given(found = key, else "there is no key")]
fn unlock(key: Option<u32>) {
    unreachable!("{found} is not there");
}

/// Break a promise while a door is open.
#[tool]
fn breaks(#[context] log: &Log) {
    let _door = Door(log);
    contract_assert!(false, "the house is on fire");
}

/// Panic while a door is open.
#[tool]
fn panics(#[context] log: &Log) {
    let _door = Door(log);
    panic!("the house is on fire");
}

/// Break a promise while a door is open, later.
#[tool]
async fn breaks_later(#[context] log: &Log) {
    let _door = Door(log);
    tokio::task::yield_now().await;
    contract_assert!(false, "the house is on fire");
}

/// Panic while a door is open, and catch the panic.
#[tool]
fn recovers(#[context] log: &Log) -> &'static str {
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _door = Door(log);
        panic!("the house is on fire");
    }));
    if panicked.is_err() { "all is well" } else { "" }
}

/// Look at something that breaks a promise while a door is open.
#[tool]
#[pre({ let _door = Door(log); lock(0); true }, policy = observe)]
fn looks(#[context] log: &Log) -> &'static str {
    log.add("body");
    "looked"
}

fn registry(log: &Log, told: &Count) -> Registry {
    let heard = told.clone();
    Registry::builder()
        .tool(breaks)
        .tool(panics)
        .tool(breaks_later)
        .tool(recovers)
        .tool(looks)
        .context(log.clone())
        .observe(Observer::new().violations(move |_| {
            heard.up();
        }))
        .build()
        .unwrap()
}

#[test]
fn a_condition_that_fails_while_a_violation_unwinds_is_noted_and_the_code_goes_on() {
    let (log, told) = (Log::default(), Count::default());
    for name in ["breaks", "breaks_later"] {
        let registry = registry(&log, &told);
        let outcome = call(&registry, name, "");
        let violation = outcome.violation().unwrap();
        assert_eq!(violation.message.as_deref(), Some("the house is on fire"));
        assert_eq!(log.take(), WENT_ON);
        let behind: Vec<_> = outcome
            .observed()
            .iter()
            .map(|violation| (violation.message.as_deref().unwrap(), violation.policy))
            .collect();
        let expected = [
            "the door is open",
            "the key must be turned",
            "the key is back where it was",
            "there is no key",
        ];
        assert_eq!(behind, expected.map(|message| (message, Policy::Enforce)));
        assert_eq!(told.take(), 5);
        assert_eq!(registry.statistics().conditions.violated, 5);
    }
}

#[test]
fn a_condition_that_fails_while_a_panic_unwinds_ends_the_call() {
    let (log, told) = (Log::default(), Count::default());
    let registry = registry(&log, &told);
    for name in ["panics", "recovers"] {
        let outcome = call(&registry, name, "");
        assert_eq!(outcome.status(), Status::Violation, "{name}");
        let violation = outcome.violation().unwrap();
        assert_eq!(violation.message.as_deref(), Some("the door is open"));
        assert_eq!(log.take(), WENT_ON);
        assert_eq!((outcome.observed().len(), told.take()), (3, 4), "{name}");
    }
}

#[test]
fn a_predicate_that_unwinds_over_a_destructor_is_judged_by_its_own_policy() {
    let (log, told) = (Log::default(), Count::default());
    let outcome = call(&registry(&log, &told), "looks", "");
    assert_eq!(outcome.output(), Some("looked"), "{:?}", outcome.error());
    assert_eq!(log.take()[3..], ["body"]);
}

#[test]
fn without_a_scope_the_first_panic_goes_on_unwinding() {
    let log = Log::default();
    let unwound = catch_unwind(AssertUnwindSafe(|| breaks(&log))).unwrap_err();
    let text = unwound.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("the house is on fire"), "{text}");
    assert_eq!(log.take(), WENT_ON);
    let unwound = catch_unwind(AssertUnwindSafe(|| panics(&log))).unwrap_err();
    assert_eq!(unwound.downcast_ref(), Some(&"the house is on fire"));
    assert_eq!(log.take(), WENT_ON);
}

#[test]
fn catch_gives_the_violation_that_began_the_unwinding() {
    let log = Log::default();
    let violation = catch(|| breaks(&log)).unwrap_err();
    assert_eq!(violation.message.as_deref(), Some("the house is on fire"));
}

#[pre(log.judge("judged", false))]
fn judged(log: &Log) {
    log.add("body");
}

/// Catches a violation as it is dropped.
struct Catches<'l>(&'l Log);

impl Drop for Catches<'_> {
    fn drop(&mut self) {
        let violation = catch(|| judged(self.0)).unwrap_err();
        self.0.add(violation.contract);
    }
}

#[test]
fn catch_in_a_destructor_gives_the_violation_of_a_body_that_has_run() {
    let log = Log::default();
    drop(Catches(&log));
    assert_eq!(log.take(), ["judged", "judged.pre[0]"]);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _catches = Catches(&log);
        panic!("the house is on fire");
    }));
    assert!(unwound.is_err());
    assert_eq!(log.take(), ["judged", "body", "judged.pre[0]"]);
}
