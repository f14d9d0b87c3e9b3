//! Whether verification finds what is wrong, all of it, and nothing in what is right.
//!
//! | file | what is in it |
//! |---|---|
//! | `lies` | tools whose contract says one thing in one form and another thing in another |
//! | `empty` | tools whose conditions say nothing, or too much |
//! | `bodies` | tools whose bodies break a promise |
//! | `right` | tools with nothing wrong |
//! | `doubles` | which bodies are run, and with what |
//! | `written` | tests that the macros write |

#![cfg(panic = "unwind")]
#![allow(
    clippy::manual_range_contains,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "tools take and give what they are tests of"
)]

mod bodies;
mod doubles;
mod empty;
mod lies;
mod right;
mod written;

use contract_runtime::{Builder, Registry};
use contract_verify::{Fault, Layer, Problem, Report, Verifier};
use serde_json::Value;

fn verifier(builder: Builder) -> Verifier {
    let registry: Registry = builder.build().unwrap_or_else(|error| panic!("{error}"));
    Verifier::new(registry)
}

fn report(builder: Builder) -> Report {
    verifier(builder).seed(7).run()
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

/// The one problem there is, found in this layer, with this as the smallest input.
#[track_caller]
fn found(report: &Report, layer: Layer, input: Value) -> &Fault {
    let problem = only(report);
    assert_eq!(problem.layer, layer, "{report}");
    assert_eq!(problem.input.as_ref(), Some(&input), "{report}");
    let begins = format!("\nregistry.call((\"\", {:?}, json!({{", problem.tool);
    assert!(
        report.to_string().contains(&begins),
        "no line to paste: {report}"
    );
    &problem.fault
}
