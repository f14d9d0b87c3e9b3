//! What the functions that conditions call tell apart is met as well, and most of the work goes into accepted inputs.

use contract_runtime::prelude::*;
use contract_verify::{Fault, Verifier};

// Numbers in comments, such as 90_210, are not read.
fn is_listed(code: u32) -> bool {
    match code {
        40_417 => true,
        1_077_003 => !is_withdrawn(code),
        _ => false,
    }
}

fn is_withdrawn(code: u32) -> bool {
    code == 5_550_123
}

/// Look a code up.
#[tool(read_only)]
#[pre(is_listed(code), "no such code")]
#[post(|_| code != 1_077_003)]
fn look_up(code: u32) {
    let _ = code;
}

fn is_whole(seconds: u32) -> bool {
    seconds % 4_271 == 0
}

/// Wait for whole periods.
#[tool(read_only)]
#[pre(seconds > 9_000 && is_whole(seconds))]
#[post(|periods| *periods > 0)]
fn wait(seconds: u32) -> u32 {
    seconds / 4_271
}

#[test]
fn arms_of_a_helper_are_met() {
    for seed in 0..10 {
        let registry = Registry::builder().tool(look_up).build().unwrap();
        let report = Verifier::new(registry).seed(seed).run();
        let is_found = report
            .problems()
            .any(|problem| matches!(problem.fault, Fault::PromiseBroken { .. }));
        assert!(is_found, "{report}");
    }
}

#[test]
fn multiples_of_what_a_helper_divides_by_are_met() {
    for seed in 0..10 {
        let registry = Registry::builder().tool(wait).build().unwrap();
        let report = Verifier::new(registry).seed(seed).run();
        assert!(report.is_ok() && report.tools()[0].ran >= 20, "{report}");
    }
}

/// Book a room for a part of one day.
#[tool(read_only)]
#[pre(end > start, "the end must come after the start")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
fn book_room(start: u32, end: u32, name: String) -> u32 {
    let _ = name;
    end - start
}

#[test]
fn most_inputs_are_accepted() {
    for seed in 0..5 {
        let registry = Registry::builder().tool(book_room).build().unwrap();
        let report = Verifier::new(registry).seed(seed).run();
        assert!(report.tools()[0].ran >= 230, "{report}");
    }
}
