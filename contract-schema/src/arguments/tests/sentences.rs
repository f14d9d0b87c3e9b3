//! The wording of refusals.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::json;

use super::super::{ErrorPosition, InvalidArguments, ProblemKind, examine, rejected};
use super::{give, parameter, schema_from, schema_of};
use crate::{InputSchema, ParameterSchema};

fn search() -> InputSchema {
    let mut generator = SchemaGenerator::default();
    let optional = |one: ParameterSchema| ParameterSchema {
        required: false,
        ..one
    };
    let parameters = vec![
        parameter::<String>(&mut generator, "query"),
        optional(parameter::<Option<u32>>(&mut generator, "limit")),
        ParameterSchema {
            secret: true,
            ..optional(parameter::<Secret>(&mut generator, "token"))
        },
    ];
    InputSchema::new(parameters, generator.take_definitions(true)).unwrap()
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Secret {
    kind: Kind,
    value: u8,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Kind {
    Red,
    /// With a comment, so that schemars writes `oneOf`.
    Blue,
}

fn told(result: Result<super::Examined, InvalidArguments>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn each_mistake_is_one_sentence() {
    let schema = search();
    let say = |text: &str| told(examine(text, &schema, false));
    assert_eq!(
        say(r#"{"query":"a","limit":"5"}"#),
        "`/limit`: expected an integer from 0 to 4294967295 or null, got the string \"5\""
    );
    assert_eq!(
        say(r#"{"query":true}"#),
        "`/query`: expected a string, got true"
    );
    assert_eq!(
        say(r#"{"query":"a","limt":5}"#),
        "`/limt`: no such argument; did you mean `limit`? The arguments are `query`, `limit`, `token`"
    );
    assert_eq!(
        say(r#"{"query":"a","row_limit":5}"#),
        "`/row_limit`: no such argument; did you mean `limit`? The arguments are `query`, `limit`, `token`"
    );
    assert_eq!(
        say("{}"),
        "`/query`: required argument is missing; expected a string"
    );
    assert_eq!(
        say("[1]"),
        "the arguments: expected an object, got an array of 1 item"
    );
    assert_eq!(
        say(r#"{"query":"a","query":"b"}"#),
        "`/query`: is given more than once"
    );
    assert_eq!(
        say(r#"{"query":"a","limit":1e400}"#),
        "`/limit`: expected a number between -1.8e308 and 1.8e308, \
         got one out of range at line 1, column 26"
    );
    assert_eq!(
        say(r#"{"query": a}"#),
        "the arguments: expected a JSON object, \
         got text that is not JSON: expected value at line 1, column 11"
    );
    assert_eq!(
        say(r#"{"query": "#),
        "the arguments: expected a JSON object, got text that ends too early, at line 1, column 10"
    );
}

#[test]
fn all_mistakes_come_at_once() {
    let refusal = examine(r#"{"limit":-1,"limit":2,"querry":1}"#, &search(), false).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "4 problems:\n\
         - `/query`: required argument is missing; expected a string\n\
         - `/limit`: expected an integer from 0 to 4294967295 or null, got the number -1\n\
         - `/querry`: no such argument; did you mean `query`? \
         The arguments are `query`, `limit`, `token`\n\
         - `/limit`: is given more than once"
    );
    let json = serde_json::to_value(&refusal).unwrap();
    assert_eq!(json["problems"][2]["nearest"], json!("query"));
    assert_eq!(json["problems"][1]["kind"], json!("range"));
    assert_eq!(
        serde_json::from_value::<InvalidArguments>(json).unwrap(),
        refusal
    );
}

#[test]
fn secrets_are_never_shown() {
    let schema = search();
    for value in [
        r#""hunter2""#,
        r#"{"kind":"hunter2","value":1}"#,
        r#"{"kind":"Red","value":"hunter2"}"#,
        r#"{"kind":"Red","value":1,"hunter2":1}"#,
        r#"{"kind":"Red","value":1,"hunter2":1,"hunter2":1}"#,
        r#"{"hunter2":{"hunter2":["hunter2"]}}"#,
    ] {
        let text = format!(r#"{{"query":"a","token":{value}}}"#);
        for coerce in [false, true] {
            let refusal = examine(&text, &schema, coerce).unwrap_err();
            let all = format!(
                "{refusal} {refusal:?} {}",
                serde_json::to_string(&refusal).unwrap()
            );
            assert!(!all.contains("hunter2"), "{all}");
            for problem in refusal.problems() {
                assert!(problem.pointer == "/token" || problem.pointer.starts_with("/token/"));
                assert!(problem.allowed.is_empty() && problem.nearest.is_none());
            }
        }
    }
    let text = r#"{"query":"a","token":{"kind":"Red","value":"77"}}"#;
    let examined = examine(text, &schema, true).unwrap();
    assert!(examined.coercions[0].secret);
    assert!(!format!("{:?}", examined.coercions).contains("77"));
}

#[test]
fn a_secret_is_spoken_of_by_its_schema_alone() {
    let schema = search();
    let say = |token: &str| {
        told(examine(
            &format!(r#"{{"query":"a","token":{token}}}"#),
            &schema,
            false,
        ))
    };
    assert_eq!(
        say(r#"{"kind":"Red"}"#),
        "`/token/value`: required key is missing; expected an integer from 0 to 255"
    );
    assert_eq!(
        say(r#"{"kind":"Red","value":700}"#),
        "`/token/value`: expected an integer from 0 to 255, got a number (not shown)"
    );
    assert_eq!(
        say(r#"{"kind":"Red","value":7,"valu":8}"#),
        "`/token`: expected only known keys, got another key (not shown)"
    );
    assert_eq!(
        say(r#"{"kind":"Red","value":7,"value":8}"#),
        "`/token`: expected each key once, got one of them again (not shown)"
    );
    let twice = told(examine(
        r#"{"query":"a","token":1,"token":2}"#,
        &schema,
        false,
    ));
    assert!(
        twice.ends_with("- `/token`: is given more than once"),
        "{twice}"
    );
}

#[test]
fn unknown_keys_are_answered_with_what_is_accepted() {
    let none = InputSchema::new(Vec::new(), serde_json::Map::new()).unwrap();
    assert_eq!(
        told(examine(r#"{"a":1}"#, &none, false)),
        "`/a`: no such argument; expected none"
    );
    let map = schema_of::<std::collections::BTreeMap<u32, u8>>();
    assert_eq!(
        told(give(&map, r#"{"a":1}"#)),
        "`/v/a`: no such key; expected a key matching the pattern `^\\d+$`"
    );
    let flat = schema_from(json!({
        "unevaluatedProperties": false,
        "anyOf": [{"properties": {"alpha": true}}, {"properties": {"beta": true}}],
    }));
    assert_eq!(
        told(give(&flat, r#"{"alpah":1}"#)),
        "`/v/alpah`: no such key; did you mean `alpha`? The keys are `alpha`, `beta`"
    );
}

#[test]
fn enums_list_their_values() {
    let refusal = give(&schema_of::<Kind>(), "\"blu\"").unwrap_err();
    let problem = &refusal.problems()[0];
    assert_eq!(problem.kind, ProblemKind::Value);
    assert_eq!(problem.allowed, [json!("Red"), json!("Blue")]);
    assert_eq!(problem.nearest.as_deref(), Some("Blue"));
    assert_eq!(
        refusal.to_string(),
        "`/v`: expected one of \"Red\", \"Blue\", got the string \"blu\"; did you mean \"Blue\"?"
    );
}

#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Shape {
    Circle { radius: f64 },
    Square { side: u8 },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Step {
    Stop,
    Go(u8),
    Turn { degrees: i16 },
}

#[test]
fn a_tagged_enum_speaks_of_the_variant_that_was_meant() {
    let schema = schema_of::<Option<Shape>>();
    assert_eq!(
        told(give(&schema, r#"{"type":"circle"}"#)),
        "`/v/radius`: required key is missing; expected a number"
    );
    assert_eq!(
        told(give(&schema, r#"{"type":"squar","side":1}"#)),
        "`/v/type`: expected one of \"circle\", \"square\", got the string \"squar\"; \
         did you mean \"square\"?"
    );
    assert_eq!(
        told(give(&schema, r#"{"side":1}"#)),
        "`/v/type`: required key is missing; expected one of \"circle\", \"square\""
    );
    let schema = schema_of::<Step>();
    assert_eq!(
        told(give(&schema, r#"{"Turn":{"degrees":"a"}}"#)),
        "`/v/Turn/degrees`: expected an integer from -32768 to 32767, got the string \"a\""
    );
    assert_eq!(
        told(give(&schema, r#""Go""#)),
        "`/v`: expected \"Stop\", got the string \"Go\""
    );
    assert_eq!(
        told(give(&schema, "7")),
        "`/v`: expected \"Stop\" or an object with `Go` or an object with `Turn`, got the number 7"
    );
}

#[test]
fn limits_are_said() {
    let cases = [
        (
            json!({"type": "string", "minLength": 1, "maxLength": 3}),
            "\"abcd\"",
            "a string of 1 to 3 characters",
        ),
        (
            json!({"type": "string", "pattern": "^a"}),
            "\"b\"",
            "a string matching the pattern `^a`",
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0}),
            "0",
            "a number above 0",
        ),
        (
            json!({"type": "array", "items": {"type": "boolean"}, "minItems": 1}),
            "[]",
            "an array of at least 1 item, each true or false",
        ),
        (
            json!({"type": "integer", "multipleOf": 5}),
            "6",
            "an integer that is a multiple of 5",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            "6",
            "a string or null",
        ),
        (
            json!({"not": {"type": "string"}}),
            "\"a\"",
            "anything but a string",
        ),
    ];
    for (schema, value, expected) in cases {
        let refusal = give(&schema_from(schema), value).unwrap_err();
        assert_eq!(refusal.problems()[0].expected, expected);
    }
}

#[test]
fn a_refusal_stays_short_and_clean() {
    let schema = schema_of::<Vec<u8>>();
    let long = format!("\"{}\\u001b[31m\\u202e\"", "ä".repeat(500));
    let many = format!("[{}]", vec![long.as_str(); 300].join(","));
    let refusal = give(&schema, &many).unwrap_err();
    assert_eq!((refusal.problems().len(), refusal.total()), (20, 300));
    let text = refusal.to_string();
    assert!(text.chars().count() <= 2_000, "{}", text.chars().count());
    assert!(text.ends_with("more"), "{text}");
    let refusal = give(&schema, "\"\\u001b\\u202e\\n\"").unwrap_err();
    assert!(
        refusal
            .to_string()
            .contains("got the string \"\\u{1b}\\u{202e}\\n\""),
        "{refusal}"
    );
    let key = format!("{{\"{}\":1,\"v\":[]}}", "k".repeat(5_000));
    let refusal = examine(&key, &schema, false).unwrap_err();
    assert!(refusal.problems()[0].pointer.len() < 200);
}

#[test]
fn a_type_may_refuse_what_its_schema_admits() {
    let place = |is_key| ErrorPosition {
        pointer: "/when".to_owned(),
        is_key,
    };
    assert_eq!(
        rejected(place(false), Some("month out of range")).to_string(),
        "`/when`: expected a value its type accepts, got a value it refuses: month out of range"
    );
    assert_eq!(
        rejected(place(true), None).to_string(),
        "`/when`: expected a key its type accepts, got a key it refuses"
    );
    let refusal = InvalidArguments::too_large(10, 11);
    assert_eq!(
        refusal.to_string(),
        "the arguments: expected at most 10 bytes, got 11 bytes"
    );
}

#[test]
fn all_of_several_schemas_are_named() {
    let schema = schema_from(json!({
        "type": "object",
        "properties": {
            "one": {"type": "string", "allOf": [{"pattern": "^a"}, {"maxLength": 4}]},
            "two": {"type": "array", "contains": {"const": 3}, "minContains": 2, "maxContains": 5},
            "three": {"contains": {"type": "string"}, "not": {"maxItems": 2}},
        },
    }));
    assert_eq!(
        told(examine(
            r#"{"v": {"one": 1, "two": 1, "three": []}}"#,
            &schema,
            false
        )),
        "4 problems:\n\
         - `/v/one`: expected a string, and a string matching the pattern `^a`, and a string of at most 4 characters, \
         got the number 1\n\
         - `/v/two`: expected an array, with 2 or more and at most 5 of: 3, got the number 1\n\
         - `/v/three`: expected an array with 1 or more of: a string, got an empty array\n\
         - `/v/three`: expected anything but an array of at most 2 items, got an empty array"
    );
}
