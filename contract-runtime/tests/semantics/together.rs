//! Preconditions that stand together: judged in one pass, and still each for itself.

use std::sync::{Arc, Mutex};

use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{Detection, Violation, catch};

use crate::common::call;

/// Look at one place of a list.
#[tool]
#[pre(place < 9, "a small place")]
#[pre(place != 3, "not {place}")]
#[pre(items[place] > 0)]
#[pre(place == 7, policy = ignore)]
#[pre(items.len() > 10, "a long list")]
fn look(items: Vec<i64>, place: usize) -> i64 {
    items.get(place).copied().unwrap_or(-1)
}

macro_rules! many {
    ($($number:literal)*) => {
        /// Take a number, but not any.
        #[tool]
        $(#[pre(number != $number)])*
        fn many(number: u32) -> u32 {
            number
        }
    };
}

many! { 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 }

fn told(policy: Policy, arguments: &str) -> (Vec<Violation>, [u64; 3]) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let registry = Registry::builder().tool(look).policy(policy);
    let registry = registry
        .observe(
            Observer::new()
                .violations(move |violation| heard.lock().unwrap().push(violation.clone())),
        )
        .build()
        .unwrap();
    let _ = call(&registry, "look", arguments);
    let counts = registry.statistics().conditions;
    let told = told.lock().unwrap().clone();
    (told, [counts.evaluated, counts.violated, counts.skipped])
}

fn named(violations: &[Violation]) -> Vec<&str> {
    let names = violations.iter().map(|one| one.contract.as_str());
    names.collect()
}

#[test]
fn each_failure_is_told_under_its_own_name() {
    let (all, counts) = told(Policy::Observe, r#"{"items": [1], "place": 3}"#);
    assert_eq!(named(&all), ["look.pre[1]", "look.pre[2]", "look.pre[4]"]);
    assert_eq!(all[0].message.as_deref(), Some("not 3"));
    assert_eq!(all[0].values["place"], 3);
    assert_eq!(all[1].detection, Detection::Panicked);
    assert_eq!(all[1].values["items"], serde_json::json!([1]));
    assert_eq!(all[2].detection, Detection::PredicateFalse);
    assert_eq!(all[2].message.as_deref(), Some("a long list"));
    assert_eq!(counts, [4, 3, 1]);
}

#[test]
fn what_stands_behind_the_one_that_ends_the_call_is_not_judged() {
    let (all, counts) = told(Policy::Enforce, r#"{"items": [1], "place": 3}"#);
    assert_eq!(named(&all), ["look.pre[1]"]);
    assert_eq!(counts, [2, 1, 0]);
    let (all, counts) = told(Policy::Enforce, r#"{"items": [1], "place": 4}"#);
    assert_eq!(named(&all), ["look.pre[2]"]);
    assert_eq!(counts, [3, 1, 0]);
    let violation = catch(|| look(vec![1; 4], 2)).unwrap_err();
    assert_eq!(violation.contract, "look.pre[4]");
}

#[test]
fn more_than_one_pass_has_room_for() {
    for number in 1..=40 {
        let violation = catch(|| many(number)).unwrap_err();
        assert_eq!(violation.contract, format!("many.pre[{}]", number - 1));
    }
    assert_eq!(catch(|| many(41)).unwrap(), 41);
}
