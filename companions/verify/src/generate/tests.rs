//! Generated values are valid where they should be, reach every bound, and terminate.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Generator;

/// As many as a verification makes by chance.
const CASES: usize = 256;

fn arguments(schema: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {"it": schema},
        "required": ["it"],
        "additionalProperties": false,
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer", "minimum": -5, "maximum": 5},
                    "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["value", "children"],
                "additionalProperties": false,
            },
        },
    })
}

/// What is made for one parameter: of the right values, at the boundaries, and by chance.
struct Made {
    right: Vec<Value>,
    boundaries: Vec<Value>,
    by_chance: Vec<Value>,
}

fn made(schema: &Value, seed: u64) -> Made {
    let root = arguments(schema);
    let mut generator = Generator::new("it", &root, &root, (&[], ""), seed);
    let it = |value: &Value| value.get("it").cloned();
    let right: Vec<Value> = (0..CASES).map(|_| generator.right()).collect();
    let base = right.first().cloned().unwrap_or_default();
    let boundaries = generator.boundaries(&base);
    let by_chance: Vec<Value> = (0..CASES).map(|_| generator.next()).collect();
    Made {
        right: right.iter().filter_map(it).collect(),
        boundaries: boundaries.iter().filter_map(it).collect(),
        by_chance: by_chance.iter().filter_map(it).collect(),
    }
}

/// Schemas as neutral schemas are, every keyword of theirs in one.
fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "boolean"}),
        json!({"type": "integer", "minimum": 0, "maximum": 255}),
        json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX}),
        json!({"type": "integer", "exclusiveMinimum": 3, "maximum": 40, "multipleOf": 7}),
        json!({"type": "number", "minimum": -1.5, "exclusiveMaximum": 2.5}),
        json!({"type": ["integer", "null"], "minimum": 0, "maximum": 9, "not": {"const": 0}}),
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 2, "maxLength": 3}),
        json!({"type": "string", "minLength": 1, "maxLength": 1}),
        json!({"type": "string", "pattern": "^[a-z][a-z0-9_]{0,7}$"}),
        json!({"type": "string", "pattern": "^(?:get|set)-", "maxLength": 20}),
        json!({"type": "string", "format": "date-time"}),
        json!({"enum": ["a", "b", 3, null]}),
        json!({"const": "only"}),
        json!({"type": "string", "enum": ["red", "green"]}),
        json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 3}, "minItems": 1, "maxItems": 4}),
        json!({"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "uniqueItems": true}),
        json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false, "minItems": 2}),
        json!({"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}, "maxItems": 5}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1}),
        json!({"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "string"}}, "required": ["b"]}),
        json!({"type": "object", "patternProperties": {"^[0-9]+$": {"type": "boolean"}}, "additionalProperties": false}),
        json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "disk"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
            {"type": "object", "properties": {"kind": {"const": "empty"}}, "required": ["kind"]},
        ]}),
        json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"allOf": [{"type": "integer", "minimum": 0}, {"maximum": 10}]}),
        json!({"$ref": "#/$defs/node"}),
    ]
}

#[test]
fn right_values_are_right() {
    for schema in schemas() {
        let validator = jsonschema::draft202012::new(&arguments(&schema)).unwrap();
        for seed in 0..3 {
            let right = made(&schema, seed).right;
            let valid = right
                .iter()
                .filter(|it| validator.is_valid(&json!({ "it": it })))
                .count();
            let wrong = right
                .iter()
                .find(|it| !validator.is_valid(&json!({ "it": it })));
            // Of the keywords that only a validator understands whole, some few may be missed.
            assert!(
                valid * 100 >= right.len() * 98,
                "{schema}: {valid} of {}, and not {wrong:?}",
                right.len()
            );
            assert!(right.len() >= CASES * 9 / 10, "{schema}");
        }
    }
}

#[test]
fn some_of_all_that_is_made_is_wrong() {
    for schema in schemas() {
        let validator = jsonschema::draft202012::new(&arguments(&schema)).unwrap();
        let made = made(&schema, 1);
        let wrong = |values: &[Value]| {
            values
                .iter()
                .filter(|it| !validator.is_valid(&json!({ "it": it })))
                .count()
        };
        assert!(wrong(&made.boundaries) >= 3, "{schema}");
        assert!(wrong(&made.by_chance) >= 1, "{schema}");
    }
}

#[track_caller]
fn meets(schema: &Value, wanted: &[Value]) {
    for seed in 0..5 {
        let made = made(schema, seed);
        for value in wanted {
            assert!(
                made.boundaries.contains(value),
                "{schema}: the boundaries lack {value}"
            );
        }
    }
}

#[test]
fn every_bound_is_met_and_passed() {
    meets(
        &json!({"type": "integer", "minimum": -3, "maximum": 70}),
        &[-4, -3, -2, 69, 70, 71].map(Value::from),
    );
    meets(
        &json!({"type": "integer", "minimum": 0, "maximum": u64::MAX}),
        &[json!(-1), json!(0), json!(u64::MAX - 1), json!(u64::MAX)],
    );
    meets(
        &json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX}),
        &[
            json!(i64::MIN),
            json!(i64::MIN + 1),
            json!(i64::MAX),
            json!(9_223_372_036_854_775_808_u64),
        ],
    );
    meets(
        &json!({"type": "number", "exclusiveMinimum": 0.5}),
        &[
            json!(0.5),
            json!(0.5_f64.next_up()),
            json!(0.5_f64.next_down()),
        ],
    );
    meets(
        &json!({"type": "string", "minLength": 2, "maxLength": 4}),
        &[
            "a",
            "aa",
            "aaa",
            "aaaa",
            "aaaaa",
            "😀",
            "😀😀",
            "😀😀😀😀",
            "😀😀😀😀😀",
        ]
        .map(Value::from),
    );
    meets(
        &json!({"type": "string", "enum": ["red", "green"]}),
        &["red", "green", "re", "RED"].map(Value::from),
    );
    meets(
        &json!({"type": "boolean"}),
        &[json!(true), json!(false), json!(null), json!("")],
    );
}

#[test]
fn arrays_are_as_long_as_the_bounds_and_one_more_and_less() {
    let schema =
        json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 5});
    let boundaries = made(&schema, 0).boundaries;
    let lengths: HashSet<usize> = boundaries
        .iter()
        .filter_map(Value::as_array)
        .map(Vec::len)
        .collect();
    for length in [0, 1, 2, 3, 4, 5, 6] {
        assert!(lengths.contains(&length), "{length}: {lengths:?}");
    }
}

#[test]
fn members_are_left_out_and_added() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}},
        "required": ["a"],
        "additionalProperties": false,
    });
    let boundaries = made(&schema, 0).boundaries;
    let objects: Vec<_> = boundaries.iter().filter_map(Value::as_object).collect();
    assert!(objects.iter().any(|object| !object.contains_key("a")));
    assert!(
        objects
            .iter()
            .any(|object| object.contains_key("a") && !object.contains_key("b"))
    );
    assert!(
        objects
            .iter()
            .any(|object| object.contains_key("unheard_of"))
    );
    assert!(
        objects
            .iter()
            .any(|object| object.get("b") == Some(&Value::Null))
    );
}

#[test]
fn each_branch_is_seen() {
    let schema = json!({"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "integer", "minimum": 5, "maximum": 9}, {"type": "null"}]});
    for seed in 0..10 {
        let boundaries = made(&schema, seed).boundaries;
        for wanted in [json!("a"), json!("b"), json!(4), json!(10), json!(null)] {
            assert!(boundaries.contains(&wanted), "{seed}: {wanted}");
        }
    }
}

#[test]
fn types_that_hold_themselves_come_to_an_end() {
    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
            Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }
    let made = made(&json!({"$ref": "#/$defs/node"}), 7);
    let deepest = made
        .right
        .iter()
        .chain(&made.boundaries)
        .map(depth)
        .max()
        .unwrap();
    assert!((3..40).contains(&deepest), "{deepest}");
    // What refers to nothing but itself says nothing.
    let endless = json!({
        "type": "object",
        "properties": {"it": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}},
    });
    let mut generator = Generator::new("it", &endless, &endless, (&[], ""), 0);
    let base = generator.right();
    assert!(!generator.boundaries(&base).is_empty());
}

#[test]
fn parameters_are_at_their_bounds_together() {
    let number = json!({"type": "integer", "minimum": -128, "maximum": 127});
    let root = json!({
        "type": "object",
        "properties": {"one": number, "other": number, "flag": {"type": "boolean"}},
        "required": ["one", "other", "flag"],
        "additionalProperties": false,
    });
    let mut generator = Generator::new("it", &root, &root, (&[], ""), 1);
    let base = generator.right();
    let boundaries = generator.boundaries(&base);
    for (one, other) in [(-128, -128), (-128, 127), (127, -128), (127, 127)] {
        let combination = json!({"one": one, "other": other, "flag": true});
        assert!(boundaries.contains(&combination), "{combination}");
    }
}

#[test]
fn parameters_meet() {
    let number = json!({"type": "integer", "minimum": 0, "maximum": u32::MAX});
    let root = json!({
        "type": "object",
        "properties": {"start": number, "end": number},
        "required": ["start", "end"],
        "additionalProperties": false,
    });
    let mut generator = Generator::new("it", &root, &root, (&[], ""), 3);
    let mut apart = HashSet::new();
    for _ in 0..CASES {
        let input = generator.next();
        if let (Some(start), Some(end)) = (input["start"].as_i64(), input["end"].as_i64()) {
            // Of small numbers many meet by chance.
            apart.extend((start > 1_000).then_some(end - start));
        }
    }
    assert!([-1, 0, 1].iter().all(|by| apart.contains(by)), "{apart:?}");
}

#[test]
fn the_same_seed_makes_the_same() {
    let schema = json!({"type": "string", "pattern": "^[a-z]+$"});
    let all = |seed| {
        let made = made(&schema, seed);
        (made.right, made.boundaries, made.by_chance)
    };
    assert_eq!(all(9), all(9));
    assert_ne!(all(9), all(10));
}

#[test]
fn of_a_type_without_values_not_much_is_made() {
    let two = json!({"$ref": "#/$defs/two"});
    let root = json!({
        "type": "object",
        "properties": {"it": two},
        "required": ["it"],
        "$defs": {"two": {
            "type": "object",
            "properties": {"left": two, "right": two},
            "required": ["left", "right"],
        }},
    });
    let mut generator = Generator::new("it", &root, &root, (&[], ""), 1);
    let made = (0..CASES).map(|_| generator.right().to_string().len());
    // Whole, each would have some 20,000 characters.
    let longest: usize = made.skip(CASES / 2).max().unwrap_or_default();
    assert!(longest < 10_000, "{longest}");
}
