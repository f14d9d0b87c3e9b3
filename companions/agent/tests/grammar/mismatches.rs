//! What the model is told when its reply leaves the grammar.

use contract_agent::Constraint;
use contract_runtime::prelude::*;

/// Set the temperature of a room.
#[tool]
#[pre(degrees >= 5 && degrees <= 30)]
fn heat(room: String, degrees: u8) {}

fn told(text: &str) -> String {
    let registry = Registry::builder()
        .tool(heat)
        .build()
        .expect("the tool is sound");
    let constraint = Constraint::replies(&registry, false).expect("it can be said");
    let mut recognizer = constraint
        .recognizer()
        .expect("the engine reads the grammar");
    // In pieces of one character, as a slow model gives them.
    for letter in text.chars() {
        if let Err(mismatch) = recognizer.push(&letter.to_string()) {
            return mismatch.to_string();
        }
    }
    recognizer.finish().expect_err("it is no reply").to_string()
}

#[test]
fn a_mismatch_says_where_and_what_was_expected() {
    let call = r#"{"type":"tool_call","tool":"heat","arguments":{"room":"hall","degrees":"#;
    for (text, sentence) in [
        ("Sure", "`S` is not allowed at the beginning; expected `{`"),
        ("", "the text is empty; expected `{`"),
        (
            r#"{"type":"too""#,
            r#"at character 13, after `{"type":"too`: `"` is not allowed here; expected `l_call"`"#,
        ),
        (
            r#"{"type":"answer","content":"yes"}."#,
            r#"at character 34, after `{"type":"answer","content":"yes"}`: `.` is not allowed here; expected the end"#,
        ),
    ] {
        assert_eq!(told(text), sentence);
    }
    let mismatch = told(&format!("{call}31}}"));
    assert!(
        mismatch.ends_with("\"degrees\":3`: `1` is not allowed here; expected `0`"),
        "{mismatch}"
    );
    let mismatch = told(&format!("{call}x"));
    assert!(
        mismatch.ends_with("`x` is not allowed here; expected a digit from 1 to 9"),
        "{mismatch}"
    );
    let mismatch = told(&format!("{call}21"));
    assert!(
        mismatch.starts_with("it ends too early, after `"),
        "{mismatch}"
    );
    assert!(mismatch.ends_with("; expected `}`"), "{mismatch}");
}

#[test]
fn text_that_may_be_anything_is_expected_as_text() {
    let told = told("{\"type\":\"answer\",\"content\":\"a\nb\"}");
    assert!(told.ends_with("expected text or `\"` or `\\`"), "{told}");
}
