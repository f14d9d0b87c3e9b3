//! Which bodies are run, and with what.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_verify::{Fault, Layer, Skipped};
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

/// Write a line that somebody has decided not to write in a test.
#[tool]
#[pre(line > 0)]
#[verify(run = false)]
fn write_never(line: u32) -> u32 {
    line
}

/// Read a line.
#[tool(read_only)]
#[pre(line > 0)]
#[post(|read| *read == line)]
fn read_line(line: u32) -> u32 {
    line
}

#[test]
fn a_report_tells_which_bodies_were_not_run() {
    let builder = Registry::builder()
        .tool(write_for_real)
        .tool(write_never)
        .tool(read_line)
        .context_arc(Arc::clone(&REAL));
    let report = report(builder);
    report.assert();
    assert_eq!(
        json!(report)["skipped"],
        json!([
            {"kind": "body", "tool": "write_for_real", "postconditions": 1, "decided": false},
            {"kind": "body", "tool": "write_never", "postconditions": 0, "decided": true},
        ])
    );
    assert!(matches!(
        report.skipped(),
        [
            Skipped::Body { decided: false, .. },
            Skipped::Body { decided: true, .. }
        ]
    ));
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    let [first, second, third, summary, undecided, decided] = lines.as_slice() else {
        panic!("{text}");
    };
    assert!(first.starts_with("read_line: ok") && first.ends_with(" run)"));
    assert!(
        second.starts_with("write_for_real: ok") && second.ends_with(" accepted, body not run)")
    );
    assert!(third.ends_with(", body not run)"));
    assert!(summary.starts_with("3 tools: ok (") && summary.ends_with("; left out: 2 bodies"));
    assert_eq!(
        *undecided,
        "the body of `write_for_real` was not run (1 postcondition); it is not `read_only`: write \
         `#[verify(run, setup = ..)]` above it, if it may be run with values that are not the real ones, else \
         `#[verify(run = false)]`"
    );
    assert_eq!(
        *decided,
        "the body of `write_never` was not run; `run = false` says so"
    );
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
    let builder = Registry::builder()
        .tool(write_once)
        .context(Ledger::default());
    let report = verifier(builder).seed(7).sequences(0).run();
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
        .sequences(0)
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
    let report = verifier(builder).seed(7).sequences(0).run();
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
    contract_verify::verify!(super::lines_given, setup = super::fresh);

    #[test]
    #[should_panic(expected = "setup = on_paper")]
    fn a_missing_value_is_reported_with_what_to_write() {
        verify_lines_of_the_ledger();
    }

    fn verify_lines_of_the_ledger() {
        let builder = contract_runtime::Registry::builder().tool(super::lines);
        contract_verify::__private::verifier_of_registry(builder, env!("CARGO_TARGET_TMPDIR"))
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

/// Take money out.
#[tool(read_only)]
#[pre(cents > 0)]
#[post(|left| *left < cents)]
#[post(|left| *left > 0)]
#[post(err |_| cents > 0)]
fn pay_out(cents: u32) -> Result<u32, String> {
    Err(format!("the account is empty: {cents}"))
}

/// Put money in.
#[tool(read_only, name = "save")]
#[post(|total| *total == cents)]
#[post(err |refusal: &String| !refusal.is_empty())]
fn pay_in(cents: u32) -> Result<u32, String> {
    Ok(cents)
}

/// Look at the account.
#[tool(read_only)]
#[pre(cents > 0)]
#[post(|same| *same == cents)]
#[post(err |refusal: &String| !refusal.is_empty())]
fn compare(cents: u32) -> Result<u32, String> {
    (cents > 100)
        .then_some(cents)
        .ok_or("too little".to_owned())
}

#[test]
fn a_report_tells_which_postconditions_were_not_judged() {
    let builder = Registry::builder().tool(pay_out).tool(pay_in);
    let report = report(builder.tool(compare));
    report.assert();
    assert_eq!(
        json!(report)["skipped"],
        json!([
            {"kind": "postconditions", "tool": "pay_out", "conditions": ["pay_out.post[1]", "pay_out.post[2]"]},
            {"kind": "postconditions", "tool": "save", "conditions": ["save.post[1]"]},
        ])
    );
    let advice = "write `#[verify(setup = ..)]` above it to run it with other values, a narrower precondition, or \
                  `#[arg(example = ..)]`";
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().skip(4).collect();
    assert_eq!(
        lines,
        [
            format!(
                "not judged: `pay_out.post[1]` and `pay_out.post[2]`, because no run of `pay_out` returned what that is about \
                 (`Ok`, or `Err` with `err`); {advice}"
            ),
            format!(
                "not judged: `save.post[1]`, because no run of `save` returned what that is about (`Ok`, or `Err` with `err`); \
                 {advice}"
            ),
        ]
    );
}
