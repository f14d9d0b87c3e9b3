//! The reports on the page about proving, and what is said beside a test that passes, are those that such tools give.

#![allow(clippy::manual_midpoint, reason = "the fault that is found")]

use contract_runtime::prelude::*;
use contract_verify::Verifier;

include!("proving/wrong.rs");
include!("proving/menu.rs");

const PAGE: &str = include_str!("../src/proving.md");
const README: &str = include_str!("../../README.md");

#[test]
fn the_report_is_real() -> Result<(), BuildError> {
    let source = include_str!("proving/wrong.rs");
    assert!(PAGE.contains(source), "proving.md does not show\n{source}");
    let registry = Registry::builder().tool(middle).build()?;
    let report = Verifier::new(registry).run().to_string();
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
fn the_boundaries_are_real() -> Result<(), BuildError> {
    /// Book a room for a part of one day.
    #[tool]
    #[pre(end > start, "the end must come after the start")]
    #[pre(end < 24 * 60, "the booking must end on the same day")]
    #[pre(seats <= 12, "more than twelve people need two rooms")]
    fn book_room(start: u32, end: u32, #[arg(default = 2)] seats: u32) {
        let _ = (start, end, seats);
    }

    let recorded = include_str!("../../examples/quickstart/verify-boundaries/book_room.json");
    let block = format!("```json\n{recorded}```");
    assert!(PAGE.contains(&block), "proving.md does not show\n{block}");
    let boundaries = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/quickstart/verify-boundaries"
    );
    let registry = Registry::builder().tool(book_room).build()?;
    let report = Verifier::new(registry)
        .boundaries(boundaries)
        .run()
        .to_string();
    let found: Vec<&str> = report.lines().skip(1).take(2).collect();
    let block = format!("```text\n{}\n```", found.join("\n"));
    assert!(PAGE.contains(&block), "proving.md does not show\n{report}");
    Ok(())
}

/// The tool of the page without what says how its body is run.
#[test]
fn the_line_about_a_body_that_was_not_run_is_real() -> Result<(), BuildError> {
    /// Pay money in, and say how much there is.
    #[tool]
    #[pre(cents > 0 && cents <= 1_000_000)]
    #[post(|total| *total >= cents)]
    fn pay_in(cents: u64) -> u64 {
        cents
    }

    let registry = Registry::builder().tool(pay_in).build()?;
    let report = Verifier::new(registry).cases(50).run();
    report.assert();
    let report = report.to_string();
    let lines: Vec<&str> = report.lines().collect();
    let [_, summary, line] = lines.as_slice() else {
        panic!("{report}");
    };
    let block = format!("```text\nverify: {line}\n```");
    let left_out = summary.split("; ").last().unwrap_or_default();
    assert!(
        PAGE.contains(left_out),
        "proving.md does not show\n{left_out}"
    );
    assert!(PAGE.contains(&block), "proving.md does not show\n{block}");
    Ok(())
}

/// Where the child process of the next test freezes to; without it, it does nothing.
const FILE: &str = "GUIDE_FREEZE_FILE";

#[test]
fn child_of_the_package() {
    if let Ok(file) = std::env::var(FILE) {
        contract_manifest::assert_frozen!(&file);
    }
}

#[test]
fn the_line_about_methods_that_are_not_frozen_is_real() -> std::io::Result<()> {
    const PAGE: &str = include_str!("../src/freezing.md");
    let file = std::env::temp_dir().join(format!("guide-contracts-{}.json", std::process::id()));
    let output = std::process::Command::new(std::env::current_exe()?)
        .args(["--exact", "child_of_the_package"])
        .env(FILE, &file)
        .env("UPDATE_CONTRACTS", "1")
        .output()?;
    std::fs::remove_file(&file)?;
    let seen = String::from_utf8_lossy(&output.stderr);
    let seen = seen.replace(&file.display().to_string(), "contracts.json");
    let block = format!("```text\n{}\n```", seen.trim_end());
    assert!(PAGE.contains(&block), "freezing.md does not show\n{block}");
    // What the line says to write.
    let whole = registry!().with(Menu(vec!["soup"])).build();
    assert!(whole.is_ok_and(|registry| registry.tool("read").is_some()));
    Ok(())
}
