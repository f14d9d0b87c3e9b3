//! Faults that only several calls show are found and shrunk to as many calls as they need, and right tools raise no alarm.

#![cfg(panic = "unwind")]

mod left_out;
mod many;
mod planted;
mod reached;
mod right;

use contract_runtime::Builder;
use contract_verify::{Problem, Report, Verifier};

/// Verifies tools whose state this function resets.
fn report(tools: Builder, setup: fn(Builder) -> Builder, seed: u64) -> Report {
    let registry = setup(tools)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let verifier = Verifier::new(registry).run_bodies(true).setup(setup);
    verifier.seed(seed).run()
}

/// The one problem there is.
#[track_caller]
fn only(report: &Report) -> &Problem {
    let problems: Vec<&Problem> = report.problems().collect();
    let [one] = problems.as_slice() else {
        panic!("one problem expected: {report}");
    };
    one
}

/// The tools that the calls of a problem are of.
fn tools(problem: &Problem) -> Vec<&str> {
    problem
        .calls
        .iter()
        .map(|call| call.tool.as_str())
        .collect()
}
