//! The report on the page about proving is the one that such a tool gives.

#![allow(clippy::manual_midpoint, reason = "the fault that is found")]

use contract_runtime::prelude::*;
use contract_runtime::verify::Verifier;

include!("proving/wrong.rs");

const PAGE: &str = include_str!("../src/proving.md");
const README: &str = include_str!("../../README.md");

/// Not the macro, whose seed is a fresh one each time.
#[test]
fn the_report_is_real() -> Result<(), BuildError> {
    let source = include_str!("proving/wrong.rs");
    assert!(PAGE.contains(source), "proving.md does not show\n{source}");
    let registry = Registry::builder().tool(middle).build()?;
    let report = Verifier::new(registry).seed(1).run().to_string();
    let block = format!("```text\n{report}\n```");
    assert!(PAGE.contains(&block), "proving.md does not show\n{block}");
    assert!(
        README.contains(source) && README.contains(&block),
        "nor README.md"
    );
    Ok(())
}
