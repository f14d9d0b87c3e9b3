//! Two integers meet at their extremes whatever the seed: of the least and of -1 there is no quotient.

use contract_runtime::ToolFunction;
use contract_runtime::prelude::*;
use contract_verify::{Fault, Verifier};
use schemars::JsonSchema;
use serde::Deserialize;

/// Divide one number by another.
#[tool(read_only)]
#[pre(divisor != 0, "cannot divide by zero")]
fn divide(dividend: i32, divisor: i32) -> i32 {
    dividend / divisor
}

/// Two numbers of a fraction.
#[derive(Deserialize, JsonSchema)]
struct Fraction {
    above: i64,
    below: i64,
}

/// Say what is left.
#[tool(read_only)]
#[pre(fraction.below != 0, "cannot divide by zero")]
#[pre(least <= most)]
fn rest(label: Option<i8>, least: i16, most: i16, seats: u8, fraction: Fraction) -> i64 {
    let _ = (label, least, most, seats);
    fraction.above % fraction.below
}

/// Share a total, which has to be known among other numbers.
#[tool(read_only)]
#[pre(each != 0)]
#[pre(total % each == 0, "nothing may be left")]
fn share(one: i32, two: i32, three: i32, total: i32, each: i32) -> i32 {
    let _ = (one, two, three, total, each);
    0
}

fn panics<F: ToolFunction<S> + Copy, S>(tool: F, is_found: fn(&Fault) -> bool) {
    for seed in 0..20 {
        let registry = Registry::builder().tool(tool).build().unwrap();
        let report = Verifier::new(registry).cases(20).seed(seed).run();
        let mut problems = report.problems();
        assert!(
            problems.any(|one| is_found(&one.fault)),
            "seed {seed}: {report}"
        );
    }
}

#[test]
fn a_quotient_that_no_type_holds_is_found_with_every_seed() {
    let in_body = |fault: &Fault| matches!(fault, Fault::BodyPanicked { message } if message.contains("overflow"));
    panics(divide, in_body);
    panics(rest, in_body);
    panics(share, |fault| *fault == Fault::ConditionPanicked);
}
