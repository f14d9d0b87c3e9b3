//! Predicates: evaluated whole, at most once, and judged even when they panic.

use std::sync::atomic::{AtomicBool, Ordering};

use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{Detection, Dialect, Status, catch};

use crate::common::{Count, Log, call};

/// Look at one place of a list.
#[tool]
#[pre(items[place] > 0, "the item must be positive")]
fn look(items: Vec<i64>, place: usize, #[context] log: &Log) -> i64 {
    log.add("body");
    items.get(place).copied().unwrap_or(-1)
}

/// Promise something by a predicate that may panic.
#[tool]
#[post(|items| items[0] > 0)]
fn promise(items: Vec<i64>) -> Vec<i64> {
    items
}

/// Keep something that may panic.
#[tool]
#[post(|_items| old(items[0]) > 0)]
fn remember(items: Vec<i64>) -> Vec<i64> {
    items
}

/// Assert by something that may panic.
#[tool]
fn asserting(items: Vec<i64>) -> usize {
    contract_assert!(items[0] > 0, "the first of {}", items.len());
    items.len()
}

fn registry(policy: Policy, told: &Count, log: &Log) -> Registry {
    let heard = told.clone();
    Registry::builder()
        .tool(look)
        .tool(promise)
        .tool(remember)
        .tool(asserting)
        .context(log.clone())
        .policy(policy)
        .observe(Observer::new().violations(move |violation| {
            assert_eq!(violation.detection, Detection::Panicked);
            heard.up();
        }))
        .build()
        .unwrap()
}

#[test]
fn a_predicate_that_panics_is_a_violation_under_every_policy() {
    for policy in [
        Policy::Ignore,
        Policy::Observe,
        Policy::Enforce,
        Policy::QuickEnforce,
    ] {
        let (told, log) = (Count::default(), Log::default());
        let registry = registry(policy, &told, &log);
        let calls = [
            ("look", r#"{"items":[],"place":3}"#),
            ("promise", r#"{"items":[]}"#),
            ("remember", r#"{"items":[]}"#),
            // Its body panics as well, if the assertion lets it.
            ("asserting", r#"{"items":[]}"#),
        ];
        for (name, arguments) in calls {
            let outcome = call(&registry, name, arguments);
            let case = format!("{policy} {name}: {:?}", outcome.error());
            assert_eq!(
                outcome.status() == Status::Violation,
                policy.ends_the_call(),
                "{case}"
            );
            assert_eq!(outcome.is_ok(), !policy.ends_the_call(), "{case}");
            assert_eq!(told.take(), usize::from(policy.tells_observers()), "{case}");
            let observed = usize::from(policy == Policy::Observe);
            assert_eq!(outcome.observed().len(), observed, "{case}");
            if let Some(violation) = outcome.violation().or(outcome.observed().first()) {
                assert_eq!(violation.detection, Detection::Panicked, "{case}");
                assert!(violation.to_string().contains("panicked"), "{case}");
            }
        }
        let ran = usize::from(!policy.ends_the_call());
        assert_eq!(log.take().len(), ran);
    }
}

#[test]
fn a_predicate_that_panics_in_a_direct_call_is_a_violation() {
    let violation = catch(|| promise(Vec::new())).unwrap_err();
    assert_eq!(violation.detection, Detection::Panicked);
}

/// Short-circuit like Rust.
#[tool]
#[pre(log.judge("a", a) && log.judge("b", b) || log.judge("c", c))]
fn short(a: bool, b: bool, c: bool, #[context] log: &Log) -> bool {
    let _ = (b, c);
    log.add("body");
    a
}

#[test]
fn a_predicate_is_evaluated_whole_with_rusts_own_short_circuit() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(short)
        .context(log.clone())
        .build()
        .unwrap();
    for bits in 0..8_u8 {
        let [a, b, c] = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
        let arguments = format!(r#"{{"a":{a},"b":{b},"c":{c}}}"#);
        let outcome = call(&registry, "short", &arguments);
        let mut expected = vec!["a"];
        if a {
            expected.push("b");
        }
        if !(a && b) {
            expected.push("c");
        }
        let holds = a && b || c;
        if holds {
            expected.push("body");
        }
        assert_eq!(log.take(), expected, "{arguments}");
        assert_eq!(outcome.is_ok(), holds, "{arguments}");
    }
}

struct Loud;

impl std::fmt::Display for Loud {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no words")
    }
}

impl serde::Serialize for Loud {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("no JSON")
    }
}

#[pre(number > 0, "{loud} is not {number}")]
#[pre(std::mem::size_of_val(&loud) == 0 && number > 1)]
fn loud(loud: Loud, number: i32) -> i32 {
    let Loud = loud;
    number
}

#[test]
fn a_parameter_that_cannot_be_shown_does_not_hide_its_violation() {
    let violation = catch(|| loud(Loud, 0)).unwrap_err();
    assert_eq!(violation.predicate, "number > 0");
    assert_eq!(violation.detection, Detection::PredicateFalse);
    let violation = catch(|| loud(Loud, 1)).unwrap_err();
    assert_eq!(violation.contract, "loud.pre[1]");
    assert_eq!(catch(|| loud(Loud, 2)), Ok(2));
}

#[contract_runtime::pre(number > 0)]
fn positive(number: i64) -> bool {
    number < 100
}

/// Judge by a function that has a contract of its own, observed.
#[tool]
#[pre(positive(number), policy = observe)]
fn judged_by(number: i64, #[context] log: &Log) -> i64 {
    log.add("body");
    number
}

#[test]
fn an_observed_predicate_that_breaks_another_contract_does_not_end_the_call() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(judged_by)
        .context(log.clone())
        .build()
        .unwrap();
    let outcome = call(&registry, "judged_by", r#"{"number":0}"#);
    // Under `observe` the call goes on, whatever the reason that the condition could not be judged.
    assert_eq!(log.take(), ["body"]);
    assert_eq!(outcome.output(), Some("0"), "{:?}", outcome.error());
    assert_eq!(outcome.observed()[0].detection, Detection::Panicked);
}

/// An error that panics when it is shown.
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("nobody may say")
    }
}

#[pre(if number == 0 { Err(Unspeakable) } else { Ok(()) })]
fn unspeakable(number: u32) -> u32 {
    number
}

#[pre(if number == 0 { Err("  ") } else { Ok(()) }, "no zero")]
#[post(|result| if *result == 1 { Err(format!("{result} is odd")) } else { Ok(()) })]
fn silent(number: u32) -> u32 {
    number
}

#[test]
fn an_error_that_says_nothing_is_a_plain_no() {
    let broken = catch(|| unspeakable(0)).unwrap_err();
    assert_eq!(broken.detection, Detection::Panicked);
    assert_eq!(unspeakable(1), 1);
    let broken = catch(|| silent(0)).unwrap_err();
    assert_eq!(broken.message.as_deref(), Some("no zero"));
    let broken = catch(|| silent(1)).unwrap_err();
    assert_eq!(broken.message.as_deref(), Some("1 is odd"));
    assert_eq!(silent(2), 2);
}

/// Order an item.
#[tool]
#[pre(is_available(&item), "the item is not available")]
fn order(
    /// The item.
    item: String,
) -> usize {
    item.len()
}

fn is_available(item: &str) -> Result<(), String> {
    if item == "lamp" {
        return Ok(());
    }
    Err(format!("{item} is sold out; try lamp"))
}

#[test]
fn an_error_is_the_sentence_that_the_model_reads() {
    let registry = Registry::builder().tool(order).build().unwrap();
    assert!(call(&registry, "order", r#"{"item":"lamp"}"#).is_ok());
    let outcome = call(&registry, "order", r#"{"item":"desk"}"#);
    assert_eq!(outcome.error(), Some("desk is sold out; try lamp"));
    let masked = outcome.violation().unwrap().masked();
    assert_eq!(masked.message, None, "it may hold any value");
    assert!(!masked.to_string().contains("desk"));
    let export = registry.export(Dialect::Neutral);
    assert_eq!(
        export[0]["description"],
        "Order an item.\n\nPossible refusals:\n- \"the item is not available\""
    );
}

/// A switch.
static OPEN: AtomicBool = AtomicBool::new(false);

/// Enter.
#[tool]
#[pre(OPEN.load(Ordering::Relaxed), "the house is closed")]
#[post(|()| OPEN.load(Ordering::Relaxed), "it closed meanwhile")]
fn enter_house() {}

#[test]
fn a_condition_may_speak_of_state_alone() {
    let registry = Registry::builder().tool(enter_house).build().unwrap();
    let outcome = call(&registry, "enter_house", "{}");
    assert_eq!(outcome.error(), Some("the house is closed"));
    OPEN.store(true, Ordering::Relaxed);
    assert!(call(&registry, "enter_house", "{}").is_ok());
}

/// A queue, and what may join it.
struct Queue {
    places: usize,
}

#[tool]
impl Queue {
    /// Join the queue.
    #[tool]
    #[pre(self.places > names.len(), "{} of {names:?} stay outside, as there are {}", names.len() - self.places, self.places)]
    #[post(|joined| joined.len() == names.len(), "{} joined, and {joined:?} is not {}", joined.len(), old(names.len()))]
    fn join(
        &self,
        /// Who joins.
        names: Vec<String>,
    ) -> Vec<String> {
        names.into_iter().filter(|name| name != "nobody").collect()
    }
}

/// Take seats.
#[tool]
#[pre(seats < 100, "only {} of {seats} are left", 100 / (seats - 100))]
fn take_seats(seats: u32) -> u32 {
    contract_assert!(seats > 3, "{} of {seats} is too few", 12 / (seats - 3));
    seats
}

#[test]
fn a_message_that_panics_is_left_out() {
    let registry = Registry::builder().tool(take_seats).build().unwrap();
    let outcome = call(&registry, "take_seats", r#"{"seats":100}"#);
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.message, None);
    assert_eq!(violation.detection, Detection::PredicateFalse);
    let told = outcome.error().unwrap();
    assert!(
        told.contains("got seats = 100") && !told.contains('{'),
        "{told}"
    );
    let outcome = call(&registry, "take_seats", r#"{"seats":3}"#);
    assert_eq!(outcome.violation().unwrap().message, None);
}

#[test]
fn a_message_shows_expressions_over_all_that_is_at_hand() {
    let queue = Queue { places: 1 };
    let broken = catch(|| queue.join(vec!["one".to_owned(), "two".to_owned()])).unwrap_err();
    assert_eq!(
        broken.message.as_deref(),
        Some(r#"1 of ["one", "two"] stay outside, as there are 1"#)
    );
    assert_eq!(
        broken.masked().message.as_deref(),
        Some("{} of {names:?} stay outside, as there are {}")
    );
    let queue = Queue { places: 2 };
    let broken = catch(|| queue.join(vec!["nobody".to_owned()])).unwrap_err();
    assert_eq!(broken.message.as_deref(), Some("0 joined, and [] is not 1"));
}
