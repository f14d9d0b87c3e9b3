//! Which bodies are run, and with what.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_runtime::verify::{Fault, Layer};
use serde_json::json;

use super::{found, only, report, verifier};

/// Counts what is done to it.
#[derive(Default)]
struct Ledger(AtomicU32);

impl Ledger {
    fn write(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

fn fresh(builder: Builder) -> Builder {
    builder.context(Ledger::default())
}

static REAL: LazyLock<Arc<Ledger>> = LazyLock::new(Arc::default);

/// Write a line that must never be written by a test.
#[tool]
#[pre(line > 0)]
#[post(|count| *count == 0)]
fn write_for_real(line: u32, #[context] ledger: &Ledger) -> u32 {
    ledger.write().max(line)
}

#[test]
fn a_body_with_effects_is_not_run() {
    let builder = Registry::builder().tool(write_for_real);
    let report = report(builder.context_arc(Arc::clone(&REAL)));
    report.assert();
    assert!(report.tools()[0].accepted > 10, "{report}");
    assert_eq!(report.tools()[0].ran, 0);
    assert_eq!(REAL.0.load(Ordering::Relaxed), 0);
}

/// Write a line, the first and only one.
#[tool]
#[pre(line > 0)]
#[post(|count| *count == 1)]
#[verify(run, setup = fresh)]
fn write_once(line: u32, #[context] ledger: &Ledger) -> u32 {
    drop(line.to_string());
    ledger.write()
}

#[test]
fn each_run_has_values_of_its_own() {
    let report = report(
        Registry::builder()
            .tool(write_once)
            .context(Ledger::default()),
    );
    report.assert();
    assert_eq!(report.tools()[0].ran, report.tools()[0].accepted);
}

/// Write a line, the first and only one, without saying how it is tried.
#[tool]
#[pre(line > 0)]
#[post(|count| *count == 1)]
fn write_unsaid(line: u32, #[context] ledger: &Ledger) -> u32 {
    drop(line.to_string());
    ledger.write()
}

#[test]
fn the_test_may_say_what_the_author_did_not() {
    let builder = || {
        Registry::builder()
            .tool(write_unsaid)
            .context(Ledger::default())
    };
    let report = verifier(builder())
        .seed(7)
        .run_bodies(true)
        .setup(fresh)
        .run();
    report.assert();
    assert!(report.tools()[0].ran > 10, "{report}");

    // Without values of its own the second run sees what the first one left.
    let report = verifier(builder()).seed(7).run_bodies(true).run();
    let fault = found(&report, Layer::Promise, json!({"line": 1}));
    assert!(matches!(fault, Fault::PromiseBroken { .. }), "{report}");
}

/// Read what costs money.
#[tool(read_only)]
#[verify(run = false)]
fn read_what_costs_money(line: u32) -> u32 {
    panic!("line {line} was read")
}

#[test]
fn the_author_may_forbid_it() {
    let report = verifier(Registry::builder().tool(read_what_costs_money))
        .seed(7)
        .run_bodies(true)
        .run();
    report.assert();
    assert_eq!(report.tools()[0].ran, 0);
}

struct Counter(AtomicU32);

fn another_counter(builder: Builder) -> Builder {
    builder.with(Counter(AtomicU32::new(0)))
}

#[tool]
impl Counter {
    /// Add one, to nothing.
    #[tool]
    #[pre(by == 1)]
    #[post(|count| *count == by)]
    #[verify(run, setup = another_counter)]
    fn count(&self, by: u32) -> u32 {
        self.0.fetch_add(by, Ordering::Relaxed) + by
    }
}

#[test]
fn a_setup_gives_the_state_of_methods_too() {
    let shared = Arc::new(Counter(AtomicU32::new(5)));
    let builder = Registry::builder().with(Arc::clone(&shared)).prefix("my_");
    let report = report(builder);
    report.assert();
    assert_eq!(report.tools()[0].tool, "my_count");
    assert!(report.tools()[0].ran > 0, "{report}");
    assert_eq!(shared.0.load(Ordering::Relaxed), 5);
}

fn broken(_: Builder) -> Builder {
    panic!("there is no paper")
}

/// Keep a number, as soon as there is paper.
#[tool(read_only)]
#[verify(setup = broken)]
fn without_paper(number: u32) -> u32 {
    number
}

#[test]
fn a_setup_that_panics_is_reported() {
    let report = report(Registry::builder().tool(without_paper));
    let Fault::Unjudged { why } = &only(&report).fault else {
        panic!("{report}");
    };
    assert!(why.contains("there is no paper"), "{why}");
}

/// How many lines there are.
#[tool(read_only)]
fn lines(#[context] ledger: &Ledger) -> u32 {
    ledger.0.load(Ordering::Relaxed)
}

mod missing {
    contract_runtime::verify!(super::lines_given, setup = super::fresh);

    #[test]
    #[should_panic(expected = "setup = on_paper")]
    fn a_missing_value_is_reported_with_what_to_write() {
        verify_lines_of_the_ledger();
    }

    fn verify_lines_of_the_ledger() {
        let builder = contract_runtime::Registry::builder().tool(super::lines);
        contract_runtime::__private::verifier_of_registry(builder, env!("CARGO_TARGET_TMPDIR"))
            .run()
            .assert();
    }
}

/// How many lines there are, of a ledger that the test gives.
#[tool(read_only)]
#[post(|count| *count == 0)]
fn lines_given(#[context] ledger: &Ledger) -> u32 {
    ledger.0.load(Ordering::Relaxed)
}
