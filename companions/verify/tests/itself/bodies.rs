//! Bodies that break a promise, each once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_verify::{Fault, Layer};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use super::{found, only, report, verifier};

/// How far a number is from zero.
#[tool(read_only)]
fn magnitude(number: i64) -> i64 {
    number.checked_abs().expect("no number is further away")
}

#[test]
fn a_panic_at_one_number_of_all() {
    let report = report(Registry::builder().tool(magnitude));
    let fault = found(&report, Layer::Promise, json!({"number": i64::MIN}));
    let Fault::BodyPanicked { message } = fault else {
        panic!("{report}");
    };
    assert!(message.contains("no number is further away"), "{message}");
    assert!(message.contains("bodies.rs"), "no place: {message}");
}

/// Show the last word of a text.
#[tool(read_only)]
fn last_word(text: &str) -> &str {
    text.split_whitespace().next_back().unwrap()
}

#[test]
fn a_panic_for_an_empty_text() {
    let report = report(Registry::builder().tool(last_word));
    let fault = found(&report, Layer::Promise, json!({"text": ""}));
    assert!(matches!(fault, Fault::BodyPanicked { .. }), "{report}");
}

/// Keep a number within a hundred.
#[tool(read_only)]
#[pre(number <= 100)]
#[post(|kept| *kept <= 100)]
fn keep(number: u32) -> u32 {
    if number == 100 { 101 } else { number }
}

#[test]
fn a_postcondition_that_is_broken_at_a_bound() {
    let report = report(Registry::builder().tool(keep));
    let fault = found(&report, Layer::Promise, json!({"number": 100}));
    assert!(matches!(fault, Fault::PromiseBroken { .. }), "{report}");
    assert_eq!(only(&report).clause.as_deref(), Some("keep.post[1]"));
}

/// Find where an item is, or say that it is not there.
#[tool(read_only)]
#[pre(items.len() <= 5)]
#[post(|found| *found < items.len())]
#[post(err |error| !error.is_empty())]
fn position(items: Vec<u8>, item: u8) -> Result<usize, String> {
    let found = items.iter().position(|one| *one == item);
    found.ok_or_else(String::new)
}

#[test]
fn a_postcondition_of_the_error() {
    let report = report(Registry::builder().tool(position));
    let fault = found(&report, Layer::Promise, json!({"items": [], "item": 0}));
    assert!(matches!(fault, Fault::PromiseBroken { .. }), "{report}");
    assert_eq!(only(&report).clause.as_deref(), Some("position.post[2]"));
}

#[pre(number < 1000, "{number} is much")]
fn inner(number: u32) -> u32 {
    number
}

/// Hand a number on.
#[tool(read_only)]
#[pre(number <= 1000)]
fn hand_on(number: u32) -> u32 {
    inner(number)
}

#[test]
fn a_precondition_of_a_function_that_the_body_calls() {
    let report = report(Registry::builder().tool(hand_on));
    let fault = found(&report, Layer::Promise, json!({"number": 1000}));
    assert!(matches!(fault, Fault::PromiseBroken { .. }), "{report}");
    assert_eq!(only(&report).clause.as_deref(), Some("inner.pre[0]"));
}

/// Add two small numbers.
#[tool(read_only)]
async fn add(one: i8, other: i8) -> i16 {
    tokio::task::yield_now().await;
    let sum = i16::from(one) + i16::from(other);
    contract_assert!(sum > -256, "{sum} is too little");
    sum
}

#[test]
fn an_assertion_in_a_body() {
    let report = report(Registry::builder().tool(add));
    let fault = found(&report, Layer::Promise, json!({"one": -128, "other": -128}));
    assert!(matches!(fault, Fault::PromiseBroken { .. }), "{report}");
}

/// A part of a hundred, which says more of itself than is true.
#[derive(Serialize)]
struct Percent(u8);

impl JsonSchema for Percent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": 100})
    }
}

/// Call a number a part of a hundred.
#[tool(read_only)]
fn percent(number: u8) -> Percent {
    Percent(number)
}

#[test]
fn an_output_that_its_schema_does_not_know() {
    let report = report(Registry::builder().tool(percent));
    let fault = found(&report, Layer::Promise, json!({"number": 101}));
    let Fault::Output { output, why } = fault else {
        panic!("{report}");
    };
    assert_eq!(output, &Value::from(101));
    assert!(why.contains("100"), "{why}");
}

/// Divide one number by another.
#[tool(read_only)]
#[pre(divisor <= 8.0 && divisor >= 0.0)]
#[pre(dividend >= 0.0 && dividend <= 8.0)]
fn ratio(dividend: f64, divisor: f64) -> f64 {
    dividend / divisor
}

#[test]
fn a_result_that_json_cannot_carry() {
    let report = report(Registry::builder().tool(ratio));
    let problem = only(&report);
    assert_eq!(problem.layer, Layer::Promise);
    assert!(
        matches!(problem.fault, Fault::ResultRefused { .. }),
        "{report}"
    );
    let divisor = problem
        .input
        .as_ref()
        .and_then(|input| input["divisor"].as_f64());
    assert_eq!(divisor, Some(0.0), "{report}");
}

#[derive(Default)]
struct Counter(AtomicU64);

#[tool]
impl Counter {
    /// Take the next number.
    #[tool(read_only, idempotent)]
    fn next(&self, still: bool) -> u64 {
        if still {
            return 0;
        }
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[test]
fn a_second_call_that_differs() {
    let report = report(Registry::builder().with(Counter::default()));
    let fault = found(&report, Layer::Promise, json!({"still": false}));
    let Fault::NotIdempotent { second, third } = fault else {
        panic!("{report}");
    };
    assert_ne!(second, third);
}

#[derive(Default)]
struct Names(std::sync::Mutex<std::collections::HashSet<String>>);

#[tool]
impl Names {
    /// Remember a name; say whether it is new.
    #[tool(idempotent)]
    #[verify(run)]
    fn remember(&self, name: String) -> bool {
        self.0.lock().is_ok_and(|mut names| names.insert(name))
    }
}

#[test]
fn an_effect_that_settles_is_idempotent() {
    let report = report(Registry::builder().with(Names::default()));
    assert!(report.is_ok(), "{report}");
}

/// Wait for what never comes, from eight on.
#[tool(read_only, timeout = "1s")]
#[pre(number <= 100)]
async fn wait(number: u32) -> u32 {
    if number >= 8 {
        std::future::pending::<()>().await;
    }
    number
}

/// Time is short on a busy machine, so only what must be seen in any time is looked at.
#[test]
fn a_body_that_does_not_end() {
    let report = report(Registry::builder().tool(wait));
    let problem = only(&report);
    assert_eq!(problem.fault, Fault::TimedOut { milliseconds: 1000 });
    let number = problem
        .input
        .as_ref()
        .and_then(|input| input["number"].as_u64());
    assert!(number.is_some_and(|number| number >= 8), "{report}");
}

static RELEASED: AtomicBool = AtomicBool::new(false);

/// Turn in a circle, from eight on.
#[tool(read_only)]
#[pre(number <= 100)]
fn circle(number: u32) -> u32 {
    while number >= 8 && !RELEASED.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    number
}

#[test]
fn a_sync_body_that_does_not_end() {
    let verifier = verifier(Registry::builder().tool(circle)).seed(7);
    let report = verifier.time_limit(Duration::from_secs(1)).run();
    RELEASED.store(true, Ordering::Relaxed);
    let problem = only(&report);
    assert_eq!(problem.fault, Fault::TimedOut { milliseconds: 1000 });
    let number = problem
        .input
        .as_ref()
        .and_then(|input| input["number"].as_u64());
    assert!(number.is_some_and(|number| number >= 8), "{report}");
}

/// Break two promises.
#[tool(read_only)]
#[post(|kept| *kept < 200)]
fn twice_wrong(number: u8) -> u8 {
    assert!(number != 0, "nothing");
    number
}

#[test]
fn every_promise_that_is_broken_is_reported() {
    let report = report(Registry::builder().tool(twice_wrong));
    let mut inputs: Vec<u64> = report
        .problems()
        .filter_map(|problem| problem.input.as_ref()?["number"].as_u64())
        .collect();
    inputs.sort_unstable();
    assert_eq!(inputs, [0, 200], "{report}");
}

/// Run on another thread, and panic there.
#[tool(read_only, blocking)]
#[pre(number <= 100)]
fn far_away(number: u32) -> u32 {
    assert!(number < 100, "a hundred is too far");
    number
}

#[test]
fn a_panic_on_another_thread() {
    let report = report(Registry::builder().tool(far_away));
    let fault = found(&report, Layer::Promise, json!({"number": 100}));
    let Fault::BodyPanicked { message } = fault else {
        panic!("{report}");
    };
    assert!(message.contains("a hundred is too far"), "{message}");
}
