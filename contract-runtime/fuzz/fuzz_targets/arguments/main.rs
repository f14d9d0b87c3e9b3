//! Arbitrary bytes as arguments: exactly one outcome, no panic, the same in every way to call, and the dispatcher
//! takes what its schema admits.
//!
//! `cargo +nightly fuzz run arguments` in `contract-runtime`.

#![no_main]

mod generate;
mod judge;
mod tools;
mod ways;

use std::sync::OnceLock;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

use judge::{Judge, Verdict};

static JUDGE: OnceLock<Judge> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    // Any bytes may come over the wire; what is not a call must be an error, not a panic.
    let _ = ToolCall::from_json(bytes);
    let Some((selector, rest)) = bytes.split_first() else {
        return;
    };
    let judge = JUDGE.get_or_init(Judge::new);
    let tool = judge.tool(usize::from(selector >> 1));
    let text = if selector & 1 == 0 {
        let Ok(text) = std::str::from_utf8(rest) else {
            return;
        };
        text.to_owned()
    } else {
        generate::arguments(tool, &mut Unstructured::new(rest))
    };
    one_outcome(judge, tool.name(), &text);
});

fn one_outcome(judge: &Judge, tool: &str, text: &str) {
    let before = judge.registry().statistics();
    let call = ToolCall::new("id", tool, text);
    let outcome = judge.registry().call(&call).blocking();
    let after = judge.registry().statistics();
    assert_eq!(
        judge::total(&after),
        judge::total(&before) + 1,
        "one call, one outcome: {text}"
    );
    ways::agree(judge.registry(), &call, &outcome);
    assert_eq!(outcome.id(), "id");
    assert_eq!(outcome.output().is_some(), outcome.error().is_none());
    assert!(
        outcome
            .error()
            .is_none_or(|error| error.chars().count() <= 2_000),
        "an error too long for a model: {text}"
    );
    let accepted = match outcome.status() {
        Status::Ok => true,
        // The schema may or may not have a keyword for the condition that did not hold.
        Status::Violation => return,
        Status::InvalidArguments => false,
        other => panic!("`{tool}` ended as {other:?} with {text}"),
    };
    let expected = match judge.verdict(tool, text) {
        Verdict::Valid => true,
        Verdict::Invalid => false,
        Verdict::Undecided => return,
    };
    assert_eq!(
        accepted,
        expected,
        "`{tool}` and its schema disagree about {text}: {:?}",
        outcome.error()
    );
}
