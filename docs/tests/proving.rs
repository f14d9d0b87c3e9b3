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

/// The quickstart's tool with one bound that moved, held to the file that the page shows.
#[test]
fn the_edges_are_real() -> Result<(), BuildError> {
    /// Book a room for a part of one day.
    #[tool]
    #[pre(end > start, "the end must come after the start")]
    #[pre(end < 24 * 60, "the booking must end on the same day")]
    #[pre(seats <= 12, "more than twelve people need two rooms")]
    fn book_room(start: u32, end: u32, #[arg(default = 2)] seats: u32) {
        let _ = (start, end, seats);
    }

    let recorded = include_str!("../../examples/quickstart/verify-edges/book_room.json");
    let block = format!("```json\n{recorded}```");
    assert!(PAGE.contains(&block), "proving.md does not show\n{block}");
    let edges = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/quickstart/verify-edges"
    );
    let registry = Registry::builder().tool(book_room).build()?;
    let report = Verifier::new(registry).edges(edges).run().to_string();
    let found: Vec<&str> = report.lines().skip(1).take(2).collect();
    let block = format!("```text\n{}\n```", found.join("\n"));
    assert!(PAGE.contains(&block), "proving.md does not show\n{report}");
    Ok(())
}
