//! The input that is reported is the smallest that fails.

use contract_runtime::ToolFunction;
use contract_runtime::prelude::*;
use contract_verify::{Fault, Problem, Verifier};
use serde_json::{Value, json};

/// The problem of a broken promise, with several seeds: it is the same input each time.
#[track_caller]
fn smallest<F: ToolFunction<S> + Copy, S>(tool: F) -> Value {
    let found = |seed| {
        let registry = Registry::builder().tool(tool).build().unwrap();
        let report = Verifier::new(registry).seed(seed).run();
        let problem: Option<&Problem> = report.problems().next();
        let problem = problem.unwrap_or_else(|| panic!("{report}"));
        assert!(
            matches!(problem.fault, Fault::PromiseBroken { .. }),
            "{report}"
        );
        problem.input.clone().unwrap()
    };
    let inputs: Vec<Value> = (0..4).map(found).collect();
    assert!(inputs.iter().all(|input| *input == inputs[0]), "{inputs:?}");
    inputs[0].clone()
}

/// Fail from some number on.
#[tool(read_only)]
#[post(|_| number < 73_901)]
fn high(number: i64) {
    let _ = number;
}

/// Fail below some number.
#[tool(read_only)]
#[post(|_| number > -4_242)]
fn low(number: i64) {
    let _ = number;
}

/// Fail at long texts.
#[tool(read_only)]
#[post(|_| text.chars().count() < 7)]
fn long(text: &str, other: Option<String>) {
    let _ = (text, other);
}

/// Fail where a list has two large numbers.
#[tool(read_only)]
#[post(|_| numbers.iter().filter(|number| **number >= 50).count() < 2)]
fn several(numbers: Vec<u8>) {
    let _ = numbers;
}

/// Fail where two numbers meet far out.
#[tool(read_only)]
#[post(|_| !(left == right && left >= 100))]
fn meeting(left: u32, right: u32) {
    let _ = (left, right);
}

/// Fail at floats past a bound.
#[tool(read_only)]
#[post(|_| ratio <= 2.5)]
fn ratio(ratio: f64) {
    let _ = ratio;
}

#[test]
fn numbers_come_down_to_the_bound() {
    assert_eq!(smallest(high), json!({"number": 73_901}));
    assert_eq!(smallest(low), json!({"number": -4_242}));
    assert_eq!(smallest(ratio), json!({"ratio": 3}));
}

#[test]
fn texts_and_lists_lose_what_does_not_matter() {
    assert_eq!(smallest(long), json!({"text": "aaaaaaa"}));
    assert_eq!(smallest(several), json!({"numbers": [50, 50]}));
}

#[test]
fn numbers_that_hang_together_come_down_together() {
    assert_eq!(smallest(meeting), json!({"left": 100, "right": 100}));
}
