//! The report of a sequence on the page about proving is the one that such a tool gives.

use std::sync::Mutex;

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_verify::Verifier;

include!("proving/guests.rs");

const PAGE: &str = include_str!("../src/proving.md");

#[test]
fn the_report_of_a_sequence_is_real() -> Result<(), BuildError> {
    let source = include_str!("proving/guests.rs");
    assert!(PAGE.contains(source), "proving.md does not show\n{source}");
    let registry = no_guests(Registry::builder()).build()?;
    let verifier = Verifier::new(registry).run_bodies(true).setup(no_guests);
    let report = verifier.run().to_string();
    let block = format!("```text\n{report}\n```");
    assert!(PAGE.contains(&block), "proving.md does not show\n{block}");
    Ok(())
}
