//! How much is read, written and run at once.

use std::sync::Arc;
use std::sync::mpsc;

use contract_runtime::prelude::*;
use contract_runtime::{ProblemKind, Status};
use proptest::prelude::*;
use tokio::sync::Notify;

use crate::common::call;

const MIB: usize = 1 << 20;

/// Count the characters of a text.
#[tool]
fn length(text: &str) -> usize {
    text.chars().count()
}

/// Repeat a text.
#[tool]
fn repeat(text: &str, times: usize) -> Result<String, String> {
    match text {
        "fail" => Err("ä".repeat(times)),
        _ => Ok(text.repeat(times)),
    }
}

/// Count up.
#[tool]
fn list(times: u32) -> Vec<u32> {
    (0..times).collect()
}

fn arguments(bytes: usize) -> String {
    let frame = r#"{"text":""}"#.len();
    format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes - frame))
}

#[test]
fn one_mebibyte_of_arguments_is_read_and_one_byte_more_is_refused_unread() {
    let registry = Registry::builder().tool(length).build().unwrap();
    let text = arguments(MIB);
    assert_eq!(text.len(), MIB);
    assert_eq!(
        call(&registry, "length", &text).output(),
        Some((MIB - 11).to_string().as_str())
    );
    for text in [arguments(MIB + 1), "{".repeat(MIB + 1), " ".repeat(MIB + 1)] {
        let outcome = call(&registry, "length", &text);
        let problems = outcome.invalid_arguments().unwrap().problems();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].kind, ProblemKind::TooLarge);
    }
}

#[test]
fn the_builder_sets_how_much_is_read() {
    let registry = Registry::builder()
        .tool(length)
        .max_argument_bytes(20)
        .build()
        .unwrap();
    assert!(call(&registry, "length", &arguments(20)).is_ok());
    let outcome = call(&registry, "length", &arguments(21));
    assert_eq!(outcome.status(), Status::InvalidArguments);
    assert!(outcome.error().unwrap().contains("20 bytes"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_long_output_keeps_its_head_and_its_tail_in_whole_characters(
        text in "[a-zäß€🦀]{1,12}", times in 0..60_usize, limit in 0..40_usize,
    ) {
        let registry = Registry::builder().tool(repeat).max_output_chars(limit).build().unwrap();
        let arguments = serde_json::json!({"text": text, "times": times}).to_string();
        let outcome = call(&registry, "repeat", &arguments);
        let output = outcome.output().unwrap();
        let whole: Vec<char> = text.repeat(times).chars().collect();
        if whole.len() <= limit {
            prop_assert_eq!(output.chars().collect::<Vec<_>>(), whole);
        } else {
            let note = format!("[{} of {} characters left out]", whole.len() - limit, whole.len());
            let (head, tail) = output.split_once(&note).unwrap();
            let kept: Vec<char> = head.trim_end_matches('\n').chars()
                .chain(tail.trim_start_matches('\n').chars()).collect();
            prop_assert_eq!(kept.len(), limit);
            let head = head.trim_end_matches('\n').chars().count();
            prop_assert_eq!(&kept[..head], &whole[..head]);
            prop_assert_eq!(&kept[head..], &whole[whole.len() - (limit - head)..]);
        }
    }
}

#[test]
fn an_output_of_a_hundred_thousand_characters_is_whole_and_one_more_is_cut() {
    let registry = Registry::builder().tool(repeat).tool(list).build().unwrap();
    let repeated = |times: usize| {
        let arguments = format!(r#"{{"text":"🦀","times":{times}}}"#);
        let outcome = call(&registry, "repeat", &arguments);
        outcome.output().unwrap().to_owned()
    };
    assert_eq!(repeated(100_000).chars().count(), 100_000);
    let cut = repeated(100_001);
    assert!(cut.contains("1 of 100001 characters left out"));
    assert!(cut.starts_with("🦀") && cut.ends_with("🦀"));
    // What is cut is no longer JSON, and does not pretend to be.
    let outcome = call(&registry, "list", r#"{"times":50000}"#);
    assert!(outcome.output().unwrap().contains("characters left out"));
    assert!(outcome.value().unwrap().is_string());
}

#[test]
fn a_long_error_is_cut_as_well() {
    let registry = Registry::builder().tool(repeat).build().unwrap();
    let outcome = call(&registry, "repeat", r#"{"text":"fail","times":300000}"#);
    assert_eq!(outcome.status(), Status::Failed);
    assert!(outcome.error().unwrap().chars().count() < 100_100);
}

/// Wait to be let go.
#[tool]
async fn wait(#[context] go: &Notify) -> u8 {
    go.notified().await;
    1
}

/// Answer at once.
#[tool]
fn at_once() -> u8 {
    1
}

#[tokio::test]
async fn more_calls_than_the_limit_are_overloaded_and_a_free_place_is_taken_again() {
    let go = Arc::new(Notify::new());
    let registry = Registry::builder()
        .tool(wait)
        .tool(at_once)
        .context_arc(Arc::clone(&go))
        .max_calls(3)
        .build()
        .unwrap();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let registry = registry.clone();
            tokio::spawn(async move { registry.call(ToolCall::new("", "wait", "")).await })
        })
        .collect();
    tokio::task::yield_now().await;
    for name in ["wait", "at_once"] {
        let outcome = registry.call(ToolCall::new("", name, "")).await;
        assert_eq!(outcome.status(), Status::Overloaded);
        assert!(outcome.error().unwrap().contains('3'));
    }
    go.notify_waiters();
    for call in waiting {
        assert!(call.await.unwrap().is_ok());
    }
    assert!(
        registry
            .call(ToolCall::new("", "at_once", ""))
            .await
            .is_ok()
    );
}

type Gate = std::sync::Mutex<mpsc::Receiver<()>>;

/// Wait on a thread to be let go.
#[tool(blocking, timeout = "30ms")]
fn block(#[context] gate: &Gate) -> bool {
    gate.lock().is_ok_and(|gate| gate.recv().is_ok())
}

#[tokio::test]
async fn a_body_that_was_given_up_keeps_its_place_among_the_blocking_ones() {
    let (go, gate) = mpsc::channel();
    let registry = Registry::builder()
        .tool(block)
        .tool(at_once)
        .context::<Gate>(std::sync::Mutex::new(gate))
        .max_blocking(1)
        .build()
        .unwrap();
    let block = || registry.call(ToolCall::new("", "block", ""));
    // On a busy machine the time can be over before the thread begins, which then still has the place for a while.
    let outcome = loop {
        let outcome = block().await;
        if outcome.may_still_be_running() {
            break outcome;
        }
        assert!(matches!(
            outcome.status(),
            Status::TimedOut | Status::Overloaded
        ));
    };
    assert!(outcome.error().unwrap().contains("may still be running"));
    let outcome = block().await;
    assert_eq!(outcome.status(), Status::Overloaded);
    // Only blocking bodies need such a place.
    assert!(
        registry
            .call(ToolCall::new("", "at_once", ""))
            .await
            .is_ok()
    );
    for _ in 0..1_000 {
        go.send(()).unwrap();
    }
    while block().await.output() != Some("true") {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

/// Take a very large number.
#[tool]
fn very_large(number: u128) -> u128 {
    number
}

#[test]
fn a_number_that_its_type_reads_in_part_is_refused_as_an_argument() {
    let registry = Registry::builder().tool(very_large).build().unwrap();
    for number in [
        "340282366920938463463374607431768211455.0",
        "340282366920938463463374607431768211456",
        "1e38.5",
    ] {
        let outcome = call(
            &registry,
            "very_large",
            &format!(r#"{{"number":{number}}}"#),
        );
        assert_eq!(
            outcome.status(),
            Status::InvalidArguments,
            "{number} {outcome:?}"
        );
        let error = outcome.error().unwrap();
        assert!(
            !error.contains(" at line ") || number.contains("e38"),
            "{error}"
        );
    }
}

/// Observe very often.
#[tool]
fn observes(times: u32) {
    for _ in 0..times {
        contract_assert!(times == 0, policy = observe);
    }
}

#[test]
fn an_outcome_holds_a_hundred_observed_violations_and_statistics_count_all() {
    let registry = Registry::builder().tool(observes).build().unwrap();
    let outcome = call(&registry, "observes", r#"{"times":1000}"#);
    assert_eq!((outcome.is_ok(), outcome.observed().len()), (true, 100));
    assert_eq!(registry.statistics().conditions.violated, 1000);
}
