//! Arguments as models send them, and the replies.

mod judge;
mod limits;
mod quiet;
mod sentences;

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::{Examined, InvalidArguments, conforms, examine};
use crate::{InputSchema, ParameterSchema};

/// A required parameter of the type `T`.
pub(super) fn parameter<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    name: &str,
) -> ParameterSchema {
    ParameterSchema {
        name: name.to_owned(),
        description: None,
        schema: generator.subschema_for::<T>().to_value(),
        required: true,
        default: None,
        examples: Vec::new(),
        secret: false,
    }
}

/// The schema of a tool with one parameter `v`.
pub(super) fn schema_of<T: JsonSchema>() -> InputSchema {
    let mut generator = SchemaGenerator::default();
    let parameters = vec![parameter::<T>(&mut generator, "v")];
    InputSchema::new(parameters, generator.take_definitions(true)).unwrap()
}

/// The schema of a tool with one parameter `v`, whose schema is written by hand.
pub(super) fn schema_from(schema: Value) -> InputSchema {
    let parameter = ParameterSchema {
        schema,
        ..parameter::<()>(&mut SchemaGenerator::default(), "v")
    };
    InputSchema::new(vec![parameter], serde_json::Map::new()).unwrap()
}

/// Examines `{"v": value}`.
pub(super) fn give(schema: &InputSchema, value: &str) -> Result<Examined, InvalidArguments> {
    examine(&format!("{{\"v\":{value}}}"), schema, false)
}

#[test]
fn nothing_in_every_spelling_means_no_arguments() {
    let schema = InputSchema::new(Vec::new(), serde_json::Map::new()).unwrap();
    for text in ["", " \n", "null", " null ", "{}", " { } "] {
        assert_eq!(
            examine(text, &schema, false).unwrap().text,
            "{}",
            "{text:?}"
        );
    }
}

#[test]
fn integers_are_normalised_only_without_loss() {
    let schema = schema_of::<u64>();
    for (given, read) in [
        ("5.0", "5"),
        ("1e2", "100"),
        ("-0.0", "0"),
        ("-0", "0"),
        ("9007199254740993.0", "9007199254740993"),
        ("1844674407370955161.5e1", "18446744073709551615"),
        ("18446744073709551615", "18446744073709551615"),
    ] {
        assert_eq!(
            give(&schema, given).unwrap().text,
            format!("{{\"v\":{read}}}"),
            "{given}"
        );
    }
    for given in [
        "5.5",
        "-1",
        "18446744073709551616",
        "0.99999999999999999999",
        "1e20",
        "1e400",
    ] {
        assert!(give(&schema, given).is_err(), "{given}");
    }
    let wide = schema_of::<u128>();
    for given in [
        "340282366920938463463374607431768211455",
        "18446744073709551617",
    ] {
        assert_eq!(
            give(&wide, given).unwrap().text,
            format!("{{\"v\":{given}}}")
        );
    }
    let text = give(&wide, "18446744073709551617.0").unwrap().text;
    assert_eq!(text, "{\"v\":18446744073709551617}");
    let mixed = schema_of::<(u128, u8, f64)>();
    let text = give(&mixed, "[18446744073709551617, 5.0, 0.1]")
        .unwrap()
        .text;
    assert_eq!(text, "{\"v\":[18446744073709551617,5,0.1]}");
}

#[test]
fn floats_stay_as_written() {
    let schema = schema_of::<(f64, Option<i8>)>();
    assert_eq!(
        give(&schema, "[5.0, null]").unwrap().text,
        "{\"v\":[5.0, null]}"
    );
    let schema = schema_of::<f32>();
    assert!(give(&schema, "1e300").is_err());
    assert!(give(&schema, "3.4028235e38").is_ok());
}

#[test]
fn a_union_prefers_the_form_that_needs_no_change() {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum Either {
        Int(i64),
        Float(f64),
    }
    assert_eq!(
        give(&schema_of::<Either>(), "5.0").unwrap().text,
        "{\"v\":5.0}"
    );
}

#[test]
fn coercions_are_few_and_recorded() {
    let schema = schema_of::<BTreeMap<String, (u8, f64, bool, String)>>();
    let text = r#"{"v":{"a":["5","15.5","true","7"]}}"#;
    assert!(examine(text, &schema, false).is_err());
    let examined = examine(text, &schema, true).unwrap();
    assert_eq!(examined.text, r#"{"v":{"a":[5,15.5,true,"7"]}}"#);
    let pointers: Vec<_> = examined
        .coercions
        .iter()
        .map(|one| one.pointer.as_str())
        .collect();
    assert_eq!(pointers, ["/v/a/0", "/v/a/1", "/v/a/2"]);
    assert_eq!(examined.coercions[0].from, json!("5"));
    assert_eq!(examined.coercions[0].to, json!(5));
    let integer = schema_of::<u8>();
    for text in [
        "\" 5\"", "\"+5\"", "\"05\"", "\"5.0\"", "\"1e1\"", "\"0x5\"", "\"256\"", "\"5.5\"",
        "\"\"", "true",
    ] {
        let text = format!("{{\"v\":{text}}}");
        assert!(examine(&text, &integer, true).is_err(), "{text}");
    }
    assert!(examine(r#"{"v":"TRUE"}"#, &schema_of::<bool>(), true).is_err());
    let examined = examine(r#"{"v":"5"}"#, &schema_of::<Option<u8>>(), true).unwrap();
    assert_eq!(examined.text, r#"{"v":5}"#);
    // A string that fits as it is is left alone.
    let either = schema_from(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}));
    assert!(
        examine(r#"{"v":"5"}"#, &either, true)
            .unwrap()
            .coercions
            .is_empty()
    );
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Stop {
    name: String,
    at: Option<u8>,
}

#[test]
fn json_text_is_read_as_the_value_that_is_wanted() {
    let read = |schema: &InputSchema, text: &str| {
        let examined = examine(text, schema, true).map(|one| (one.text, one.coercions.len()));
        examined.map_err(|refused| refused.problems()[0].pointer.clone())
    };
    let stop = schema_of::<Stop>();
    let stops = schema_of::<Vec<Stop>>();
    let names = schema_of::<Option<Vec<String>>>();
    let numbers = schema_of::<Vec<u8>>();
    for (schema, text, wanted) in [
        (
            &stop,
            r#"{"v":"{\"name\":\"a\",\"at\":5.0}"}"#,
            Ok((r#"{"v":{"name":"a","at":5}}"#, 1)),
        ),
        // Each place has one correction of its own.
        (
            &stop,
            r#"{"v":"{\"name\":\"a\",\"at\":\"5\"}"}"#,
            Ok((r#"{"v":{"name":"a","at":5}}"#, 2)),
        ),
        (
            &stop,
            r#"{"v":{"name":"null","at":"null"}}"#,
            Ok((r#"{"v":{"name":"null","at":null}}"#, 1)),
        ),
        (
            &stop,
            r#""{\"v\":{\"name\":\"a\"}}""#,
            Ok((r#"{"v":{"name":"a"}}"#, 1)),
        ),
        (&stop, r#"{"v":"{\"nmae\":\"a\"}"}"#, Err("/v/name")),
        (
            &stop,
            r#"{"v":"{\"name\":\"a\",\"name\":\"b\"}"}"#,
            Err("/v/name"),
        ),
        (&stop, r#"{"v":"[]"}"#, Err("/v")),
        (
            &stops,
            r#"{"v":"[{\"name\":\"a\"}]"}"#,
            Ok((r#"{"v":[{"name":"a"}]}"#, 1)),
        ),
        (
            &stops,
            r#"{"v":{"name":"a"}}"#,
            Ok((r#"{"v":[{"name":"a"}]}"#, 1)),
        ),
        // Two corrections at one place are none.
        (&stops, r#"{"v":"{\"name\":\"a\"}"}"#, Err("/v")),
        (&numbers, r#"{"v":7}"#, Ok((r#"{"v":[7]}"#, 1))),
        (&numbers, r#"{"v":"7"}"#, Err("/v")),
        (&numbers, r#"{"v":null}"#, Err("/v")),
        (&names, r#"{"v":"a"}"#, Ok((r#"{"v":["a"]}"#, 1))),
        (&names, r#"{"v":"[a"}"#, Ok((r#"{"v":["[a"]}"#, 1))),
        (&names, r#"{"v":"[\"a\"]"}"#, Ok((r#"{"v":["a"]}"#, 1))),
        (&names, r#"{"v":"null"}"#, Ok((r#"{"v":null}"#, 1))),
        // A string that is accepted as it is, and a tuple of one.
        (
            &schema_of::<Option<String>>(),
            r#"{"v":"null"}"#,
            Ok((r#"{"v":"null"}"#, 0)),
        ),
        (
            &schema_of::<Value>(),
            r#"{"v":"[1]"}"#,
            Ok((r#"{"v":"[1]"}"#, 0)),
        ),
        (&schema_of::<(u8,)>(), r#"{"v":7}"#, Err("/v")),
    ] {
        let wanted = wanted.map(|(text, count)| (text.to_owned(), count));
        assert_eq!(read(schema, text), wanted.map_err(str::to_owned), "{text}");
        if !text.contains(r#""[1]""#) && !text.contains(r#""v":"null""#) {
            assert!(examine(text, schema, false).is_err(), "{text}");
        }
    }
    let deep = format!(r#"{{"v":"{}"}}"#, "[".repeat(200));
    assert!(examine(&deep, &stops, true).is_err());
}

#[test]
fn a_coerced_value_is_judged_by_every_schema() {
    let schema = schema_from(json!({"allOf": [{"type": "integer"}, {"minimum": 3}]}));
    assert!(examine(r#"{"v":"5"}"#, &schema, true).is_ok());
    assert!(examine(r#"{"v":"2"}"#, &schema, true).is_err());
}

#[test]
fn a_string_that_may_be_coerced_in_two_ways_is_refused() {
    let schema = schema_from(json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}));
    assert!(examine(r#"{"v":"5.5"}"#, &schema, true).is_ok());
    assert!(examine(r#"{"v":"5"}"#, &schema, true).is_err());
}

#[test]
fn a_reference_beside_other_keywords_is_enforced_with_them() {
    let schema = InputSchema::from_object(json!({
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/Small", "minimum": 1}},
        "$defs": {"Small": {"type": "integer", "maximum": 3}},
    }))
    .unwrap();
    for (value, fits) in [("0", false), ("1", true), ("3", true), ("4", false)] {
        assert_eq!(give(&schema, value).is_ok(), fits, "{value}");
    }
}

#[test]
fn a_whole_schema_may_be_open_and_refer_to_itself() {
    let schema = InputSchema::from_object(json!({
        "type": "object",
        "properties": {"inner": {"$ref": "#"}, "a": {"type": "integer"}},
    }))
    .unwrap();
    let text = examine(r#"{"x":1,"inner":{"inner":{"a":5.0}}}"#, &schema, false)
        .unwrap()
        .text;
    assert_eq!(text, r#"{"x":1,"inner":{"inner":{"a":5}}}"#);
    assert!(examine(r#"{"inner":{"inner":{"a":"5"}}}"#, &schema, false).is_err());
    assert!(examine(r#"{"inner":1}"#, &schema, false).is_err());
}

/// A string may be meant for a list of it alone, for a list of such a list, and so on.
#[test]
fn a_value_is_not_wrapped_in_lists_without_an_end() {
    let schema = InputSchema::from_object(json!({
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/Tree"}}]}},
    }))
    .unwrap();
    for coerce in [false, true] {
        assert!(examine(r#"{"v":"x"}"#, &schema, coerce).is_err());
    }
    assert_eq!(
        examine(r#"{"v":"[1]"}"#, &schema, true).unwrap().text,
        r#"{"v":[1]}"#
    );
}

#[test]
fn a_key_that_is_given_twice_is_refused_in_any_value() {
    let anything = InputSchema::of_value(json!(true)).unwrap();
    assert!(conforms(r#"{"a":1,"b":1}"#, &anything).is_ok());
    assert!(conforms(r#"{"a":1,"a":1}"#, &anything).is_err());
}
