//! A violation is data.

use contract_runtime::prelude::*;
use contract_runtime::{Blame, ConditionKind, Detection, PolicyOrigin, catch};
use serde_json::{Value, json};

use crate::common::call;

/// Book a room.
#[tool]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(name.len() <= 200)]
#[post(|minutes| *minutes <= 600 && old(end - start) == *minutes, "{minutes} is too long")]
fn book(start: u32, #[arg(name = "until")] end: u32, name: &str) -> u32 {
    contract_assert!(name != "nobody", "{name} cannot book");
    end - start
}

fn registry() -> Registry {
    Registry::builder().tool(book).build().unwrap()
}

fn violation(arguments: &Value) -> Violation {
    let outcome = call(&registry(), "book", &arguments.to_string());
    outcome.violation().unwrap().clone()
}

#[test]
fn a_broken_precondition_says_everything_about_itself() {
    let line = line!() - 20;
    let violation = violation(&json!({"start": 9, "until": 8, "name": "x"}));
    assert_eq!(violation.contract, "book.pre[0]");
    assert_eq!(violation.kind, ConditionKind::Pre);
    assert_eq!(violation.tool, "book");
    assert_eq!(violation.predicate, "end > start");
    assert_eq!(
        violation.message.as_deref(),
        Some("the end (8) must come after the start (9)")
    );
    assert!(violation.location.file.ends_with("violations.rs"));
    assert!(violation.location.line.abs_diff(line) < 3);
    assert!(violation.location.column > 1);
    assert_eq!(violation.policy, Policy::Enforce);
    assert_eq!(violation.origin, PolicyOrigin::Process);
    assert_eq!(violation.detection, Detection::PredicateFalse);
    assert_eq!(violation.blame, Blame::Model);
    // The model knows the parameter by the name it was given.
    assert_eq!(json!(violation.values), json!({"until": 8, "start": 9}));
    assert_eq!(violation.call_id.as_deref(), Some("1"));
    assert_eq!(
        violation.to_string(),
        "the end (8) must come after the start (9); `book` requires `end > start`, got until = 8, start = 9"
            .replace("until = 8, start = 9", &order(&violation)),
    );
}

/// The order of the values is not promised; the sentence follows it.
fn order(violation: &Violation) -> String {
    let values = violation.values.iter();
    let values: Vec<_> = values
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    values.join(", ")
}

#[test]
fn a_broken_promise_and_a_broken_assertion_blame_the_tool() {
    let post = violation(&json!({"start": 0, "until": 700, "name": "x"}));
    assert_eq!(
        (post.kind, post.blame),
        (ConditionKind::Post, Blame::Callee)
    );
    assert_eq!(post.message.as_deref(), Some("700 is too long"));
    assert!(post.to_string().contains("`book` promises"));
    let assert = violation(&json!({"start": 0, "until": 7, "name": "nobody"}));
    assert_eq!(
        (assert.kind, assert.blame),
        (ConditionKind::Assert, Blame::Callee)
    );
    assert_eq!(assert.predicate, r#"name != "nobody""#);
    assert!(assert.contract.starts_with("book.assert@"));
    assert!(assert.to_string().contains("`book` asserts"));
}

#[test]
fn a_violation_has_the_name_that_its_author_gave_the_condition() {
    /// Pay back.
    #[tool]
    #[pre(cents <= 10_000, "too much", id = "limit")]
    #[pre(cents > 0)]
    fn refund(cents: u32) -> u32 {
        cents
    }
    let violation = |cents| contract_runtime::catch(|| refund(cents)).unwrap_err();
    assert_eq!(violation(20_000).id.as_deref(), Some("limit"));
    assert_eq!(violation(0).id, None);
    let json = serde_json::to_value(violation(20_000)).unwrap();
    assert_eq!(json["id"], "limit");
}

#[test]
fn a_violation_survives_a_round_trip_through_json() {
    let violations = [
        violation(&json!({"start": 9, "until": 8, "name": "x"})),
        violation(&json!({"start": 0, "until": 9, "name": "x".repeat(300)})),
        violation(&json!({"start": 0, "until": 700, "name": "x"})),
        violation(&json!({"start": 0, "until": 7, "name": "nobody"})),
        catch(|| book(2, 1, "x")).unwrap_err(),
    ];
    for violation in violations {
        let text = serde_json::to_string(&violation).unwrap();
        let read: Violation = serde_json::from_str(&text).unwrap();
        assert_eq!(read, violation);
        assert_eq!(read.masked(), violation.masked());
        assert_eq!(read.to_string(), violation.to_string());
        let masked = serde_json::to_string(&violation.masked()).unwrap();
        let read: Violation = serde_json::from_str(&masked).unwrap();
        assert_eq!(read, violation.masked());
    }
}

#[test]
fn the_sentence_of_a_violation_stays_short() {
    let violation = violation(&json!({"start": 0, "until": 9, "name": "ä".repeat(100_000)}));
    assert!(violation.to_string().chars().count() < 400);
    assert_eq!(violation.values["name"].as_str().unwrap().len(), 200_000);
}

#[test]
fn a_masked_violation_shows_no_value() {
    let canary = "91827364";
    let violation = violation(&json!({"start": 91_827_364, "until": 1, "name": canary}));
    assert!(violation.to_string().contains(canary));
    let masked = violation.masked();
    let texts = [
        masked.to_string(),
        format!("{masked:?}"),
        serde_json::to_string(&masked).unwrap(),
    ];
    for text in texts {
        assert!(!text.contains(canary), "{text}");
    }
    assert_eq!(
        masked.message.as_deref(),
        Some("the end ({until}) must come after the start ({start})")
    );
}

#[test]
fn a_renamed_tool_is_called_what_the_model_calls_it() {
    let registry = Registry::builder()
        .tool(book)
        .rename("book", "reserve")
        .prefix("rooms_")
        .build()
        .unwrap();
    let outcome = call(
        &registry,
        "rooms_reserve",
        r#"{"start":2,"until":1,"name":""}"#,
    );
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.tool, "rooms_reserve");
    assert!(violation.to_string().contains("`rooms_reserve` requires"));
}

/// Show a type that cannot be written.
#[tool]
#[pre(limit.0 > 0)]
fn unwritable(limit: Limit) -> u32 {
    limit.0
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Limit(u32);

#[test]
fn a_value_that_cannot_be_written_is_shown_as_it_was_sent() {
    let registry = Registry::builder().tool(unwritable).build().unwrap();
    let outcome = call(&registry, "unwritable", r#"{"limit":0}"#);
    assert_eq!(outcome.violation().unwrap().values["limit"], json!(0));
    let direct = catch(|| unwritable(Limit(0))).unwrap_err();
    assert!(direct.values.is_empty());
}

/// Take a short text.
#[tool]
#[pre(text.is_empty())]
fn nothing(text: String) -> usize {
    text.len()
}

#[test]
fn characters_that_turn_a_line_around_are_escaped_in_the_sentence() {
    let registry = Registry::builder().tool(nothing).build().unwrap();
    let arguments =
        serde_json::json!({"text": "a\u{202e}b\u{200b}c\u{2066}d\u{9b}e\u{feff}f"}).to_string();
    let outcome = registry
        .call(ToolCall::new("1", "nothing", arguments))
        .blocking();
    let error = outcome.error().unwrap();
    assert!(
        error.contains(r"a\u{202e}b\u{200b}c\u{2066}d\u{9b}e\u{feff}f"),
        "{error}"
    );
}

/// Warnings of generated code after a body that never returns would be errors here.
#[deny(warnings)]
mod never {
    use contract_runtime::prelude::*;

    #[pre(code > 0, "the code must be positive")]
    pub(super) fn leave(code: i32) -> ! {
        panic!("left with {code}")
    }
}

#[test]
fn a_function_that_never_returns_has_preconditions() {
    let violation = contract_runtime::catch(|| never::leave(0)).unwrap_err();
    assert_eq!(violation.predicate, "code > 0");
}
