//! Conditions that say nothing, and conditions that say too much.

use std::sync::atomic::{AtomicU32, Ordering};

use contract_runtime::prelude::*;
use contract_verify::{Fault, Layer};
use serde_json::json;

use super::{found, only, report};

/// Keep a number.
#[tool]
#[pre(number >= 0)]
#[allow(
    unused_comparisons,
    clippy::absurd_extreme_comparisons,
    reason = "this is the mistake"
)]
fn never_refused(number: u32) -> u32 {
    number
}

#[test]
fn a_clause_that_no_input_violates() {
    let report = report(Registry::builder().tool(never_refused));
    let problem = only(&report);
    assert_eq!(problem.layer, Layer::Meaning);
    assert_eq!(problem.clause.as_deref(), Some("never_refused.pre[0]"));
    let Fault::NeverFails { tried, samples } = &problem.fault else {
        panic!("{report}");
    };
    assert!(*tried > 0 && !samples.is_empty(), "{report}");
}

fn is_magic(text: &str) -> bool {
    text.starts_with("open") && text.ends_with("sesame") && text.len() == 1_000
}

/// Open a door.
#[tool]
#[pre(is_magic(word))]
fn never_accepted(word: &str) -> usize {
    word.len()
}

#[test]
fn a_clause_that_no_input_satisfies() {
    let report = report(Registry::builder().tool(never_accepted));
    let fault = report.problems().find(|problem| problem.clause.is_some());
    let fault = &fault.unwrap_or_else(|| panic!("{report}")).fault;
    assert!(matches!(fault, Fault::NeverHolds { .. }), "{report}");
}

fn is_small(number: u32) -> bool {
    number < 10
}

fn is_large(number: u32) -> bool {
    number > 1_000
}

/// Keep a number that is small and large.
#[tool]
#[pre(is_small(number))]
#[pre(is_large(number))]
fn contradictory(number: u32) -> u32 {
    number
}

#[test]
fn clauses_that_contradict_each_other() {
    let report = report(Registry::builder().tool(contradictory));
    let fault = &only(&report).fault;
    assert!(
        matches!(fault, Fault::TooFewAccepted { accepted: 0, .. }),
        "{report}"
    );
}

/// Divide a hundred.
#[tool]
#[pre(100 / divisor > 1, "that is little")]
fn panicking(divisor: i32) -> i32 {
    100 / divisor
}

#[test]
fn a_precondition_that_panics() {
    let report = report(Registry::builder().tool(panicking));
    let fault = found(&report, Layer::Agreement, json!({"divisor": 0}));
    assert_eq!(*fault, Fault::ConditionPanicked);
}

fn is_even_today() -> bool {
    static DAY: AtomicU32 = AtomicU32::new(0);
    DAY.fetch_add(1, Ordering::Relaxed)
        .wrapping_mul(0x9E37_79B9)
        >> 31
        == 0
}

/// Keep a number on even days.
#[tool]
#[pre(number > 3 && is_even_today())]
fn unsteady(number: u32) -> u32 {
    number
}

#[test]
fn a_precondition_with_a_mind_of_its_own() {
    let report = report(Registry::builder().tool(unsteady));
    let seen = report
        .problems()
        .any(|problem| problem.fault == Fault::Unsteady);
    assert!(seen, "{report}");
}

struct Store;

/// Count what is stored.
#[tool]
#[pre(most > 3)]
fn without_its_store(most: u32, #[context] store: Option<&Store>) -> u32 {
    most.min(u32::from(store.is_some()))
}

#[test]
fn a_value_that_may_be_missing() {
    report(Registry::builder().tool(without_its_store)).assert();
}
