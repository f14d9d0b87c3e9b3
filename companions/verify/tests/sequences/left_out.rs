//! What was not tried is said, and fails where it is demanded.

use std::sync::Mutex;

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_verify::{Skipped, Verifier};

/// Find an order.
#[tool(read_only)]
fn find_order(order_id: u8) -> u8 {
    order_id
}

/// Refund an order.
#[tool(destructive)]
#[verify(run)]
#[pre(history().with("order_id", &order_id).seen(find_order), "look the order up first")]
#[pre(history().count(refund) < 3, "three a day")]
fn refund(order_id: u8) -> u8 {
    order_id
}

#[test]
fn conditions_that_nothing_leads_to_are_named() {
    let alone = Registry::builder()
        .tool(refund)
        .without_contexts()
        .build()
        .unwrap();
    let report = Verifier::new(alone.clone()).seed(1).run();
    assert!(report.is_ok(), "{report}");
    let expected = Skipped::Conditions {
        tool: "refund".to_owned(),
        never_true: vec!["refund.pre[0]".to_owned()],
        never_false: vec!["refund.pre[1]".to_owned()],
    };
    assert_eq!(report.skipped(), [expected], "{report}");
    let text = report.to_string();
    assert!(
        text.contains("left out: 2 sides of preconditions\n"),
        "{text}"
    );
    let line =
        "in all calls of `refund`, never true: `refund.pre[0]`, never false: `refund.pre[1]`; ";
    assert!(text.contains(line), "{text}");
    assert!(!Verifier::new(alone).strict(true).run().is_ok());

    let both = Registry::builder()
        .tool(refund)
        .tool(find_order)
        .build()
        .unwrap();
    let report = Verifier::new(both).seed(1).strict(true).run();
    assert!(report.is_ok(), "{report}");
    assert_eq!(report.skipped(), [], "{report}");
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

#[tool]
impl Notes {
    /// Write a note.
    #[tool]
    #[verify(run)]
    fn note(&self, text: String) -> usize {
        let mut notes = self.0.lock().unwrap();
        notes.push(text);
        notes.len()
    }
}

fn no_notes(builder: Builder) -> Builder {
    builder.with(Notes::default())
}

#[test]
fn a_state_that_nothing_resets_is_named() {
    let registry = || no_notes(Registry::builder()).build().unwrap();
    let report = Verifier::new(registry()).run();
    assert_eq!(
        report.skipped(),
        [Skipped::Sequences {
            tools: vec!["note".to_owned()],
            decided: false,
        }],
        "{report}"
    );
    assert_eq!(report.sequences(), 0);
    assert!(
        report
            .to_string()
            .contains("nothing resets the state of `note`"),
        "{report}"
    );
    assert!(!Verifier::new(registry()).strict(true).run().is_ok());
    let verifier = Verifier::new(registry()).strict(true).setup(no_notes);
    let report = verifier.clone().run();
    assert!(report.is_ok(), "{report}");
    assert_eq!(report.sequences(), 256);
    let report = verifier.sequences(0).run();
    assert!(report.is_ok(), "{report}");
    assert!(
        report.to_string().ends_with(
            "; left out: 1 set of sequences\nno sequences of calls were tried; `sequences = 0` says so"
        ),
        "{report}"
    );
}

/// Send a letter.
#[tool]
fn send(text: &str) -> usize {
    text.len()
}

/// Send a letter, which no test does.
#[tool]
#[verify(run = false)]
fn send_for_good(text: &str) -> usize {
    text.len()
}

#[test]
fn a_body_that_is_left_out_by_decision_does_not_fail() {
    let strict = |builder: Builder| Verifier::new(builder.build().unwrap()).strict(true).run();
    let report = strict(Registry::builder().tool(send));
    assert!(!report.is_ok(), "{report}");
    assert!(
        report.to_string().contains("1 tool: incomplete ("),
        "{report}"
    );
    assert!(
        report.to_string().contains("; left out: 1 body"),
        "{report}"
    );
    let report = strict(Registry::builder().tool(send_for_good));
    assert!(report.is_ok(), "{report}");
    assert!(report.to_string().contains("1 tool: ok ("), "{report}");
    assert!(
        report.to_string().contains("; left out: 1 body"),
        "{report}"
    );
}
