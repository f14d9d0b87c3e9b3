//! A call and its result on the wire.

use contract_runtime::prelude::*;
use serde_json::json;

#[track_caller]
fn read(text: &str) -> ToolCall {
    ToolCall::from_json(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn both_shapes_of_a_call_and_both_forms_of_arguments_are_read() {
    let expected = ToolCall::new("1", "add", r#"{"a":1}"#);
    for text in [
        r#"{"id":"1","name":"add","arguments":"{\"a\":1}"}"#,
        r#"{"id":"1","name":"add","arguments":{"a":1}}"#,
        r#"{"id":"1","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}}"#,
        r#"{"id":"1","type":"function","function":{"name":"add","arguments":{"a":1}}}"#,
        r#"{"index":0,"id":"1","type":"function","function":{"name":"add","arguments":{"a":1}}}"#,
        r#"{"function":{"arguments":{"a":1},"name":"add"},"id":"1"}"#,
        " {\n\"id\": \"1\",\n\"name\": \"add\", \"arguments\": {\"a\":1} }\n",
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    for text in [
        r#"{"id":"1","name":"add"}"#,
        r#"{"id":"1","name":"add","arguments":null}"#,
        r#"{"id":"1","name":"add","arguments":""}"#,
        r#"{"id":"1","function":{"name":"add"}}"#,
    ] {
        assert_eq!(read(text), ToolCall::new("1", "add", ""), "{text}");
    }
}

#[test]
fn duplicate_keys_of_arguments_reach_the_dispatcher() {
    let call = read(r#"{"id":"1","name":"add","arguments":{"a":1,"a":2}}"#);
    assert_eq!(call.arguments, r#"{"a":1,"a":2}"#);
}

#[test]
fn a_call_survives_a_round_trip() {
    let call = ToolCall::new("7", "x", r#"{"a":"\u00e9"}"#);
    let text = serde_json::to_string(&call).unwrap();
    assert_eq!(read(&text), call);
}

#[test]
fn what_is_no_call_is_refused() {
    for text in [
        "",
        "null",
        "5",
        "[]",
        "{}",
        "{",
        "\"x\"",
        r#"{"id":"1"}"#,
        r#"{"id":"1","name":5}"#,
        r#"{"id":"1","function":{}}"#,
        r#"{"id":"1","function":[]}"#,
        r#"{"id":"1","name":"a","name":"b"}"#,
        r#"{"id":"1","id":"2","name":"a"}"#,
        r#"{"id":"1","name":"a","function":{"name":"a"}}"#,
        r#"{"id":"1","arguments":{},"function":{"name":"a"}}"#,
        r#"{"id":"1","name":"a"} x"#,
        r#"["1","add",null,null]"#,
        r#"{"id":"1","function":["add",null]}"#,
    ] {
        assert!(ToolCall::from_json(text.as_bytes()).is_err(), "{text}");
    }
    assert!(ToolCall::from_json(b"{\"id\":\"\xff\",\"name\":\"a\"}").is_err());
    assert!(ToolCall::from_json(b"{\"name\":\"a\",\"arguments\":{\"a\":\"\xff\"}}").is_err());
}

#[test]
fn a_refusal_of_what_is_no_call_repeats_no_value_and_names_no_type() {
    let secret = "S3CR3T";
    for text in [
        json!({"id": "1", "function": secret}),
        json!({"id": "1", "name": {"x": secret}}),
        json!({"id": [secret], "name": "x"}),
        json!({"id": "1", "function": {"name": [secret]}}),
        json!(secret),
        json!({"id": 918_273_645, "name": "x"}),
    ] {
        let error = ToolCall::from_json(text.to_string().as_bytes()).unwrap_err();
        let error = error.to_string();
        assert!(!error.contains(secret), "{error}");
        assert!(!error.contains("918273645"), "{error}");
        assert!(
            !error.contains("struct ") && !error.contains("Shape"),
            "{error}"
        );
        assert!(error.contains("expected an object with `id`"), "{error}");
    }
}
