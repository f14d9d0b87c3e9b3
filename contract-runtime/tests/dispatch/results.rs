//! Every form that a result may have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use contract_runtime::prelude::*;
use contract_runtime::{Artifact, Status, ToolResult};
use serde_json::{Value, json};

use crate::common::{call, ended};

mod errors {
    #[derive(Debug)]
    pub(super) enum Refusal {
        Closed,
    }

    impl std::fmt::Display for Refusal {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the shop is closed; come back at nine")
        }
    }

    pub(super) type Result<T = (), E = Refusal> = std::result::Result<T, E>;
}

/// Give nothing.
#[tool]
fn unit() {}

/// Give nothing, or fail.
#[tool]
fn unit_result(fail: bool) -> errors::Result {
    if fail {
        Err(errors::Refusal::Closed)
    } else {
        Ok(())
    }
}

/// Give a number, through an alias.
#[tool]
fn aliased(fail: bool) -> errors::Result<u8> {
    unit_result(fail).map(|()| 7)
}

/// Read a file that is not there.
#[tool]
fn io() -> std::io::Result<String> {
    std::fs::read_to_string("/nowhere/at/all")
}

/// Fail with a box.
#[tool]
fn boxed() -> Result<u8, Box<dyn std::error::Error + Send + Sync>> {
    Err("no luck".into())
}

/// Give an optional.
#[tool]
fn option(some: bool) -> Option<u8> {
    some.then_some(1)
}

/// Give an optional, or fail.
#[tool]
fn result_option(some: bool) -> Result<Option<String>, String> {
    Ok(some.then(|| "text".to_owned()))
}

/// Give a string.
#[tool]
fn string() -> String {
    "a \"quoted\"\nline \\ 🦀".to_owned()
}

/// Give a borrowed string.
#[tool]
fn borrowed<'a>(text: &'a str) -> &'a str {
    text.trim()
}

/// Give borrowed strings.
#[tool]
fn borrowed_words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// Give a part of a list.
#[tool]
fn slice(list: &[i32]) -> &[i32] {
    &list[1..]
}

/// Give a string that may be borrowed.
#[tool]
fn cow(text: &str) -> Cow<'_, str> {
    if text.contains(' ') {
        text.replace(' ', "_").into()
    } else {
        text.into()
    }
}

/// Give a borrowed string, or fail.
#[tool]
fn borrowed_result(text: &str) -> Result<&str, String> {
    text.split(' ').nth(1).ok_or_else(|| "one word".to_owned())
}

/// Give a borrowed string, later.
#[tool]
async fn borrowed_later(text: &str) -> Result<&str, String> {
    tokio::task::yield_now().await;
    Ok(text.trim())
}

/// Give JSON.
#[tool]
fn value() -> Value {
    json!({"z": 1, "a": [true, null]})
}

/// Give JSON that is a string.
#[tool]
fn string_value() -> Value {
    json!("text")
}

/// Give a map.
#[tool]
fn map() -> BTreeMap<u8, (bool, char)> {
    BTreeMap::from([(1, (true, 'x'))])
}

/// Give a big number.
#[tool]
fn big() -> (u128, i128) {
    (u128::MAX, i128::MIN)
}

/// Give content.
#[tool]
fn content() -> Content {
    Content::text("three things")
        .with(Artifact::image("image/png", [1, 2]))
        .with(Artifact::file("a.csv", "text/csv", *b"a,b"))
        .with(Artifact::value("table", json!([[1]])))
}

/// Give content that is an empty text.
#[tool]
fn empty_content() -> Content {
    Content::text("")
}

/// Give content, or fail.
#[tool]
fn content_result(fail: bool) -> Result<Content, &'static str> {
    if fail {
        return Err("no content");
    }
    Ok(Content::json(&json!({"a": 1})))
}

fn registry() -> Registry {
    Registry::builder()
        .tool(unit)
        .tool(unit_result)
        .tool(aliased)
        .tool(io)
        .tool(boxed)
        .tool(option)
        .tool(result_option)
        .tool(string)
        .tool(borrowed)
        .tool(borrowed_words)
        .tool(slice)
        .tool(cow)
        .tool(borrowed_result)
        .tool(borrowed_later)
        .tool(value)
        .tool(string_value)
        .tool(map)
        .tool(big)
        .tool(content)
        .tool(empty_content)
        .tool(content_result)
        .build()
        .unwrap()
}

#[test]
fn every_result_is_written_in_its_form() {
    let registry = registry();
    let cases = [
        ("unit", "", "", json!(null)),
        ("unit_result", r#"{"fail":false}"#, "", json!(null)),
        ("aliased", r#"{"fail":false}"#, "7", json!(7)),
        ("option", r#"{"some":true}"#, "1", json!(1)),
        ("option", r#"{"some":false}"#, "null", json!(null)),
        ("result_option", r#"{"some":true}"#, "text", json!("text")),
        ("result_option", r#"{"some":false}"#, "null", json!(null)),
        (
            "string",
            "",
            "a \"quoted\"\nline \\ 🦀",
            json!("a \"quoted\"\nline \\ 🦀"),
        ),
        ("borrowed", r#"{"text":" x "}"#, "x", json!("x")),
        (
            "borrowed",
            r#"{"text":" \n\"x\" "}"#,
            "\"x\"",
            json!("\"x\""),
        ),
        (
            "borrowed_words",
            r#"{"text":"a b"}"#,
            r#"["a","b"]"#,
            json!(["a", "b"]),
        ),
        ("slice", r#"{"list":[1,2,3]}"#, "[2,3]", json!([2, 3])),
        ("cow", r#"{"text":"a b"}"#, "a_b", json!("a_b")),
        ("cow", r#"{"text":"ab"}"#, "ab", json!("ab")),
        ("borrowed_result", r#"{"text":"a b"}"#, "b", json!("b")),
        ("borrowed_later", r#"{"text":" 5 "}"#, "5", json!("5")),
        (
            "value",
            "",
            r#"{"z":1,"a":[true,null]}"#,
            json!({"z": 1, "a": [true, null]}),
        ),
        ("string_value", "", "text", json!("text")),
        ("borrowed", r#"{"text":" "}"#, "", json!("")),
        ("empty_content", "", "", json!("")),
        ("map", "", r#"{"1":[true,"x"]}"#, json!({"1": [true, "x"]})),
        ("content", "", "three things", json!("three things")),
        (
            "content_result",
            r#"{"fail":false}"#,
            r#"{"a":1}"#,
            json!({"a": 1}),
        ),
    ];
    for (name, arguments, output, value) in cases {
        let outcome = call(&registry, name, arguments);
        assert_eq!(
            outcome.output(),
            Some(output),
            "{name} {:?}",
            outcome.error()
        );
        assert_eq!(outcome.value(), Some(value), "{name}");
    }
    assert_eq!(
        call(&registry, "big", "").output(),
        Some(format!("[{},{}]", u128::MAX, i128::MIN).as_str())
    );
}

#[test]
fn an_error_is_told_in_its_own_words() {
    let registry = registry();
    let closed = "the shop is closed; come back at nine";
    for (name, arguments, error) in [
        ("unit_result", r#"{"fail":true}"#, closed),
        ("aliased", r#"{"fail":true}"#, closed),
        ("boxed", "", "no luck"),
        ("borrowed_result", r#"{"text":"a"}"#, "one word"),
        ("content_result", r#"{"fail":true}"#, "no content"),
    ] {
        assert_eq!(
            ended(&registry, name, arguments),
            (Status::Failed, error.to_owned()),
            "{name}"
        );
    }
    assert_eq!(ended(&registry, "io", "").0, Status::Failed);
}

#[test]
fn artifacts_go_along_and_survive_the_wire() {
    let registry = registry();
    let outcome = call(&registry, "content", "");
    assert_eq!(outcome.artifacts().len(), 3);
    let result = outcome.into_result();
    let text = serde_json::to_string(&result).unwrap();
    let read: ToolResult = serde_json::from_str(&text).unwrap();
    assert_eq!(read, result);
    assert_eq!(read.artifacts[2], Artifact::value("table", json!([[1]])));
    let bare = call(&registry, "unit", "").into_result();
    let text = serde_json::to_string(&bare).unwrap();
    assert_eq!(
        text,
        r#"{"id":"1","name":"unit","success":true,"effect":"complete","output":""}"#
    );
    let failed = call(&registry, "boxed", "").into_result();
    let text = serde_json::to_string(&failed).unwrap();
    assert_eq!(
        text,
        r#"{"id":"1","name":"boxed","success":false,"effect":"unknown","error":"no luck"}"#
    );
    assert_eq!(serde_json::from_str::<ToolResult>(&text).unwrap(), failed);
}

#[test]
fn a_result_without_a_schema_has_none_and_the_others_have_theirs() {
    let registry = registry();
    let schema = |name: &str| registry.tool(name).unwrap().output_schema().cloned();
    for name in ["unit", "unit_result", "content", "content_result"] {
        assert_eq!(schema(name), None, "{name}");
    }
    for name in [
        "aliased",
        "borrowed",
        "borrowed_words",
        "cow",
        "map",
        "big",
        "slice",
    ] {
        assert!(schema(name).is_some(), "{name}");
    }
}
