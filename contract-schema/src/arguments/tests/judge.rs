//! Compares every verdict with the `jsonschema` crate.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::prelude::*;
use proptest::sample::select;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{ProblemKind, conforms, examine};
use super::{schema_from, schema_of};
use crate::InputSchema;

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
pub(super) enum Color {
    Red,
    /// With a comment, so that schemars writes `oneOf`.
    Green,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Shape {
    Circle { r: f32 },
    Square { side: u64, color: Option<Color> },
    Point,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
pub(super) enum Step {
    Stop,
    Go(i8),
    Turn { a: i16, b: bool },
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Loose {
    Int(i32),
    Float(f64),
    Text(String),
    Pair(u8, u8),
    Named { a: u8 },
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Closed {
    a: u8,
    #[serde(default)]
    b: Option<String>,
    #[serde(default)]
    c: Vec<Closed>,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
struct Open {
    a: char,
    #[serde(flatten)]
    rest: HashMap<String, u16>,
}

#[derive(Debug, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "only its schema is wanted; serde does not combine the two attributes"
)]
struct Flat {
    a: u8,
    #[serde(flatten)]
    shape: Shape,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
struct Limits {
    #[schemars(range(min = 1, max = 5))]
    a: u8,
    #[schemars(length(min = 1, max = 2), pattern("^[ab]+$"))]
    b: String,
    #[schemars(length(max = 1))]
    c: BTreeSet<u8>,
}

pub(super) fn schemas() -> Vec<InputSchema> {
    let mut schemas = vec![
        schema_of::<(u8, i64, u64, f32, f64)>(),
        schema_of::<Option<Color>>(),
        schema_of::<Shape>(),
        schema_of::<Option<Shape>>(),
        schema_of::<Vec<Step>>(),
        schema_of::<Loose>(),
        schema_of::<Closed>(),
        schema_of::<Open>(),
        schema_of::<Flat>(),
        schema_of::<Limits>(),
        schema_of::<BTreeMap<u32, bool>>(),
        schema_of::<BTreeMap<String, Option<Color>>>(),
        schema_of::<Value>(),
        schema_of::<[u8; 2]>(),
    ];
    schemas.extend(
        [
            json!({"type": ["integer", "string"], "enum": [1, "Red", 5.0, [1]]}),
            json!({"const": {"a": 1}}),
            json!({"type": "number", "multipleOf": 0.5, "exclusiveMinimum": 0}),
            // The judge takes remainders of floats, where 1e300 is a multiple of 3.
            json!({"multipleOf": 3, "minimum": -1e18, "maximum": 1e18}),
            json!({"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}),
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            json!({"uniqueItems": true}),
            json!({"propertyNames": {"maxLength": 1}, "minProperties": 1, "maxProperties": 2}),
            json!({"patternProperties": {"^[ab]$": {"type": "integer"}}, "additionalProperties": {"type": "string"}}),
            json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"maxProperties": 2}}}),
            json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"type": "array"}}),
            json!({"not": {"type": ["object", "integer"]}}),
            json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}),
            json!({"allOf": [{"minimum": 2}, {"type": ["integer", "null"]}]}),
            json!({"anyOf": [{"required": ["a"], "properties": {"a": true}}, {"properties": {"b": true}}], "unevaluatedProperties": false, "type": "object"}),
            json!({"properties": {"a": true}, "dependentSchemas": {"a": {"properties": {"b": true}}}, "unevaluatedProperties": false}),
            json!({"minimum": 9_007_199_254_740_993_i64}),
            json!(false),
        ]
        .map(schema_from),
    );
    schemas
}

/// Values near the edges of the types above.
fn leaves() -> impl Strategy<Value = Value> {
    let numbers = select(vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(2.0),
        json!(2.5),
        json!(5),
        json!(6),
        json!(9),
        json!(127),
        json!(128),
        json!(255),
        json!(256),
        json!(-129),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(9_007_199_254_740_993_u64),
        json!(9_007_199_254_740_992_u64),
        json!(1e30),
        json!(3.5e38),
        json!(1e300),
        json!(-1e300),
        json!(0.1),
        json!(18_446_744_073_709_551_616.0_f64),
    ]);
    let words = select(vec![
        "Red", "Green", "red", "Stop", "Go", "Turn", "Circle", "Square", "Point", "a", "b", "ab",
        "aba", "", "ä", "1", "💚", "日本",
    ]);
    prop_oneof![
        3 => numbers,
        3 => words.prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
    ]
}

pub(super) fn values() -> impl Strategy<Value = Value> {
    let keys = select(vec![
        "a", "b", "c", "r", "type", "side", "color", "Go", "Turn", "Stop", "1", "x", "ab",
    ]);
    leaves().prop_recursive(4, 24, 5, move |inner| {
        let entries = prop::collection::vec((keys.clone(), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            entries.prop_map(|entries| {
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(entries.collect())
            }),
        ]
    })
}

/// Values that fit, or fitted before one of their parts was replaced.
pub(super) fn near_misses() -> impl Strategy<Value = Value> {
    let fitting = select(vec![
        json!([1, -1, 1, 1.5, 1.5]),
        json!({"type": "Circle", "r": 1.5}),
        json!({"type": "Square", "side": 1, "color": "Red"}),
        json!({"type": "Point"}),
        json!(["Stop", {"Go": 1}, {"Turn": {"a": 1, "b": true}}]),
        json!([1, 2]),
        json!({"a": 1, "b": "x", "c": [{"a": 2, "b": null, "c": []}]}),
        json!({"a": "x", "b": 1, "c": 2}),
        json!({"a": 1, "type": "Circle", "r": 1}),
        json!({"a": 1, "type": "Square", "side": 2.0}),
        json!({"a": 5, "b": "ab", "c": [1]}),
        json!({"1": true, "2": false}),
        json!({"x": "Red", "y": null}),
        json!(["a"]),
    ]);
    (fitting, leaves(), any::<prop::sample::Index>(), 0..4_u8).prop_map(
        |(mut value, leaf, index, change)| {
            let mut places = Vec::new();
            pointers(&value, String::new(), &mut places);
            let place = &places[index.index(places.len())];
            match (change, value.pointer_mut(place)) {
                (0 | 1, Some(part)) => *part = leaf,
                (2, Some(Value::Object(entries))) => {
                    let first = entries.keys().next().cloned();
                    first.and_then(|key| entries.shift_remove(&key));
                }
                (2, Some(Value::Array(items))) => items.push(leaf),
                (2, Some(part)) => *part = json!([leaf]),
                _ => {}
            }
            value
        },
    )
}

fn pointers(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, format!("{here}/{index}"), all);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                pointers(item, format!("{here}/{key}"), all);
            }
        }
        _ => {}
    }
    all.push(here);
}

fn agree(schemas: &[(InputSchema, jsonschema::Validator)], value: &Value) {
    let arguments = json!({ "v": value });
    let text = arguments.to_string();
    for (schema, judge) in schemas {
        let ours = examine(&text, schema, false);
        assert_eq!(
            ours.is_ok(),
            judge.is_valid(&arguments),
            "{text} by {}: {ours:?}",
            schema.json()
        );
        match ours {
            Ok(examined) => {
                let read: Value = serde_json::from_str(&examined.text).unwrap();
                assert!(judge.is_valid(&read), "{text} became {read}");
            }
            Err(refusal) => {
                assert!(!refusal.problems().is_empty() && refusal.to_string().len() < 8_000);
            }
        }
        // With coercions nothing that fits is changed, and whatever is accepted is valid afterwards.
        if let Ok(examined) = examine(&text, schema, true) {
            let read: Value = serde_json::from_str(&examined.text).unwrap();
            assert!(judge.is_valid(&read), "{text} became {read}");
            assert_eq!(
                examined.coercions.is_empty(),
                judge.is_valid(&arguments),
                "{text}"
            );
        }
    }
}

fn judged() -> Vec<(InputSchema, jsonschema::Validator)> {
    schemas()
        .into_iter()
        .map(|schema| {
            let judge = jsonschema::draft202012::new(schema.json()).unwrap();
            (schema, judge)
        })
        .collect()
}

#[test]
fn every_verdict_is_that_of_the_standard() {
    let schemas = judged();
    proptest!(ProptestConfig::with_cases(400), |(value in prop_oneof![values(), near_misses()])| {
        agree(&schemas, &value);
    });
}

/// A part is sent as its JSON text, or without the list around it.
#[test]
fn every_correction_ends_in_a_value_of_the_standard() {
    let schemas = judged();
    proptest!(ProptestConfig::with_cases(400), |(mut value in values(), place in any::<prop::sample::Index>())| {
        let mut places = Vec::new();
        pointers(&value, String::new(), &mut places);
        if let Some(part) = value.pointer_mut(&places[place.index(places.len())]) {
            *part = match part.take() {
                Value::Array(mut items) if items.len() == 1 => items.remove(0),
                other => Value::from(other.to_string()),
            };
        }
        agree(&schemas, &value);
    });
}

/// Decodes what the schema admits.
fn decodes<T: JsonSchema + for<'de> Deserialize<'de>>(value: &Value) {
    #[derive(Deserialize)]
    struct Arguments<T> {
        #[expect(dead_code, reason = "only whether it decodes is wanted")]
        v: T,
    }
    let schema = schema_of::<T>();
    if let Ok(examined) = examine(&json!({ "v": value }).to_string(), &schema, false) {
        let read = serde_json::from_str::<Arguments<T>>(&examined.text);
        assert!(read.is_ok(), "{}: {:?}", examined.text, read.err());
    }
}

#[test]
fn what_is_admitted_decodes() {
    proptest!(ProptestConfig::with_cases(400), |(value in prop_oneof![values(), near_misses()])| {
        decodes::<(u8, i64, u64, f32, f64)>(&value);
        decodes::<Option<Color>>(&value);
        decodes::<Option<Shape>>(&value);
        decodes::<Vec<Step>>(&value);
        decodes::<Loose>(&value);
        decodes::<Closed>(&value);
        decodes::<Open>(&value);
        decodes::<BTreeMap<u32, bool>>(&value);
        decodes::<[u8; 2]>(&value);
    });
}

#[test]
fn parsing_is_that_of_serde_json() {
    let pieces = select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"\\u0041\"",
        "\"\\ud800\"",
        "1",
        "-",
        "0",
        ".5",
        "e9",
        "1e400",
        "true",
        "nul",
        "null",
        " ",
        "\n",
        "\"",
        "\\",
        "\u{0}",
        "ä",
        "18446744073709551616",
    ]);
    let soup = prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat());
    let good = values().prop_map(|value| value.to_string());
    let anything = InputSchema::of_value(Value::Bool(true)).unwrap();
    proptest!(ProptestConfig::with_cases(4_000), |(text in prop_oneof![soup, good, any::<String>()])| {
        let refusal = conforms(&text, &anything).err();
        let first = refusal.map(|refusal| refusal.problems()[0].kind);
        let is_json = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert_eq!(first != Some(ProblemKind::Malformed), is_json);
        // Whatever it is, there is one answer.
        let schema = schema_of::<u8>();
        let _ = examine(&text, &schema, true);
    });
}
