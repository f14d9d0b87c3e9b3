//! Random schemas: each reduction accepts all that the original accepts, by an independent validator.

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::walk::{References, Subset, reduce};

/// As little as a dialect can have.
const POOR: Subset = Subset {
    keywords: &[],
    formats: &[],
    closed: false,
    typed: false,
    all_required: false,
    references: References::Kept,
    prepare: |_, _| {},
    finish: |_| {},
};

/// As much.
const RICH: Subset = Subset {
    keywords: &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "prefixItems",
        "additionalProperties",
        "default",
    ],
    ..POOR
};

const CLOSED: Subset = Subset {
    keywords: &["minimum", "pattern", "maxItems"],
    closed: true,
    typed: true,
    ..POOR
};

const INLINED: Subset = Subset {
    references: References::Inlined,
    ..RICH
};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..7).prop_map(Value::from),
        Just(json!(2.0)),
        Just(json!(1.5)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b", "ab", "abc", "ba"]).prop_map(str::to_owned)
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn keyword() -> impl Strategy<Value = (&'static str, Value)> {
    let small = || 0..4_u8;
    prop_oneof![
        small().prop_map(|n| ("minimum", json!(n))),
        small().prop_map(|n| ("maximum", json!(n + 2))),
        small().prop_map(|n| ("exclusiveMinimum", json!(n))),
        (1..4_u8).prop_map(|n| ("multipleOf", json!(n))),
        small().prop_map(|n| ("minLength", json!(n))),
        small().prop_map(|n| ("maxLength", json!(n))),
        prop::sample::select(vec!["^a", "b$", "ab"]).prop_map(|p| ("pattern", json!(p))),
        small().prop_map(|n| ("minItems", json!(n))),
        small().prop_map(|n| ("maxItems", json!(n))),
        small().prop_map(|n| ("minProperties", json!(n))),
        Just(("uniqueItems", json!(true))),
        prop::collection::vec(value(), 1..4).prop_map(|values| ("enum", json!(values))),
        value().prop_map(|value| ("const", value)),
        value().prop_map(|value| ("default", value)),
        value().prop_map(|value| ("not", json!({"const": value}))),
        Just(("description", json!("D."))),
    ]
}

fn types() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(vec!["integer", "number", "string", "boolean", "null"])
            .prop_map(Value::from),
        1 => prop::sample::subsequence(vec!["integer", "string", "null", "array", "object"], 2..4)
            .prop_map(Value::from),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    let typed = (types(), prop::collection::vec(keyword(), 0..3)).prop_map(|(types, keywords)| {
        let mut schema = Map::from_iter([("type".to_owned(), types)]);
        schema.extend(
            keywords
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value)),
        );
        Value::Object(schema)
    });
    let bare = prop::collection::vec(keyword(), 1..3).prop_map(|keywords| {
        let keywords = keywords.into_iter();
        keywords
            .map(|(key, value)| (key.to_owned(), value))
            .collect::<Map<_, _>>()
            .into()
    });
    prop_oneof![
        6 => typed,
        2 => bare,
        2 => prop::sample::select(vec!["A", "B", "C"]).prop_map(|name| json!({"$ref": format!("#/$defs/{name}")})),
        1 => any::<bool>().prop_map(Value::from),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 16, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..3);
        let members = || prop::collection::vec((name(), inner.clone()), 0..3);
        let required = || prop::sample::subsequence(vec!["a", "b", "c"], 0..2);
        let others = prop_oneof![
            3 => Just(Some(json!(false))),
            1 => Just(None),
            1 => inner.clone().prop_map(Some),
        ];
        let object = (members(), required(), others).prop_map(|(members, required, others)| {
            let members: Map<_, _> = members.into_iter().collect();
            let mut schema = json!({"type": "object", "properties": members, "required": required});
            if let Some(others) = others {
                schema["additionalProperties"] = others;
            }
            schema
        });
        let list = (several(), prop::option::of(inner.clone()), 0..4_u8).prop_map(
            |(prefix, items, most)| {
                let mut schema = json!({"type": "array", "prefixItems": prefix, "maxItems": most});
                if let Some(items) = items {
                    schema["items"] = items;
                }
                schema
            },
        );
        let combined = (
            prop::sample::select(vec!["allOf", "anyOf", "oneOf"]),
            several(),
            prop::option::of(inner.clone()),
        )
            .prop_map(|(combination, parts, beside)| {
                let mut schema = match beside {
                    Some(Value::Object(keywords)) => keywords,
                    _ => Map::new(),
                };
                schema.insert(combination.to_owned(), json!(parts));
                Value::Object(schema)
            });
        prop_oneof![
            1 => object,
            1 => list,
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            3 => combined,
        ]
    })
}

/// Arguments with one parameter, and three definitions that may refer to each other below a property.
fn root() -> impl Strategy<Value = Value> {
    let below = |schema: Value| json!({"type": "object", "properties": {"a": schema}, "additionalProperties": false});
    (schema(), leaf(), schema(), schema()).prop_map(move |(parameter, a, b, c)| {
        json!({
            "type": "object",
            "properties": {"p": parameter},
            "required": ["p"],
            "additionalProperties": false,
            "$defs": {"A": below(a), "B": below(b), "C": below(c)},
        })
    })
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error} in {schema:#}"))
}

/// Without the keys that a schema with `additionalProperties` left open says nothing of: a closed dialect has none.
fn says_all(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            let open = keywords.contains_key("properties")
                && !keywords.contains_key("additionalProperties");
            !open && keywords.values().all(says_all)
        }
        Value::Array(items) => items.iter().all(says_all),
        _ => true,
    }
}

#[test]
fn a_reduction_accepts_what_its_schema_accepts() {
    let mut runner = TestRunner::deterministic();
    let (mut judged, mut refused) = ([0_usize; 4], 0);
    let subsets = [POOR, RICH, CLOSED, INLINED];
    for _ in 0..300 {
        let root = root().new_tree(&mut runner).unwrap().current();
        let original = validator(&root);
        let values: Vec<Value> = (0..40)
            .map(|_| json!({"p": value().new_tree(&mut runner).unwrap().current()}))
            .filter(|value| original.is_valid(value))
            .collect();
        for (subset, judged) in subsets.iter().zip(&mut judged) {
            if subset.closed && !says_all(&root) {
                continue;
            }
            let Ok(reduced) = reduce("t", &root, subset) else {
                refused += 1;
                continue;
            };
            let reduction = validator(&reduced);
            for value in &values {
                *judged += 1;
                assert!(
                    reduction.is_valid(value),
                    "{value} is refused by {reduced:#}, made of {root:#}"
                );
            }
        }
    }
    assert!(
        judged.iter().all(|judged| *judged > 150),
        "{judged:?}, {refused} refused"
    );
}
