//! Single edits that are known to widen a schema.

use jsonschema::canonical::Containment;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::random::{algebra, schema};
use super::shown;

/// A schema as tools have them: one type, and keywords that speak of it.
fn tidy() -> impl Strategy<Value = Value> {
    let integer = (0..5_i64, 0..40_i64).prop_map(
        |(low, width)| json!({"type": "integer", "minimum": low, "maximum": low + width}),
    );
    let number = (0..5_i64).prop_map(|low| json!({"type": "number", "exclusiveMinimum": low}));
    let text = (0..3_u8, 3..9_u8)
        .prop_map(|(low, high)| json!({"type": "string", "minLength": low, "maxLength": high}));
    let unit = Just(json!({"type": "string", "enum": ["m", "ft", "in"]}));
    let leaf = prop_oneof![
        integer,
        number,
        text,
        unit,
        Just(json!({"type": "boolean"}))
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let properties = prop::collection::btree_map("[a-c]", inner.clone(), 1..3);
        prop_oneof![
            (inner.clone(), 0..3_u8, 3..6_u8).prop_map(|(items, low, high)| {
                json!({"type": "array", "items": items, "minItems": low, "maxItems": high})
            }),
            properties.prop_map(|properties| {
                let names: Vec<_> = properties.keys().cloned().collect();
                json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
            }),
            inner.prop_map(|one| json!({"anyOf": [one, {"type": "null"}]})),
        ]
    })
}

/// Every way to widen a schema by one edit.
fn widened(schema: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let Some(keywords) = schema.as_object() else {
        return found;
    };
    let mut with = |keyword: &str, value: Value| {
        let mut edited = schema.clone();
        edited[keyword] = value;
        found.push(edited);
    };
    for (keyword, value) in keywords {
        let number = value.as_i64().unwrap_or_default();
        match keyword.as_str() {
            "minimum" | "exclusiveMinimum" => with(keyword, json!(number - 1)),
            "maximum" | "maxLength" | "maxItems" => with(keyword, json!(number + 1)),
            "minLength" | "minItems" if number > 0 => with(keyword, json!(number - 1)),
            "enum" => with(keyword, json!(["m", "ft", "in", "yd"])),
            "required" => with(keyword, json!([])),
            "additionalProperties" => with(keyword, json!({"type": "integer"})),
            "type" if value == "integer" => with(keyword, json!("number")),
            "type" if value == "boolean" => with(keyword, json!(["boolean", "string"])),
            "items" => widened(value)
                .into_iter()
                .for_each(|one| with(keyword, one)),
            "anyOf" => {
                for one in widened(&value[0]) {
                    with(keyword, json!([{"type": "null"}, one]));
                }
            }
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                for (name, one) in properties {
                    for one in widened(one) {
                        let mut edited = value.clone();
                        edited[name] = one;
                        with(keyword, edited);
                    }
                }
                let mut edited = value.clone();
                edited["new"] = json!({"type": "string"});
                with(keyword, edited);
            }
            _ => {}
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_edit_that_widens_is_seen_as_one(schema in tidy(), choice: Index) {
        let edits = widened(&schema);
        prop_assume!(!edits.is_empty());
        let edited = choice.get(&edits);
        prop_assert_eq!(shown(edited, &schema), Ok(()), "{}\nover\n{}", edited, schema);
        if algebra(&schema, edited) == Containment::No {
            prop_assert!(shown(&schema, edited).is_err(), "{}\nover\n{}", schema, edited);
        }
    }

    #[test]
    fn a_note_changes_nothing(schema in schema()) {
        let mut recorded = json!({"allOf": [schema], "$defs": {"node": {"type": "null"}}});
        let plain = recorded.clone();
        if super::super::readable(&plain).is_err() || plain.to_string().contains("oneOf") || plain.to_string().contains("\"if\"") {
            return Ok(());
        }
        recorded["description"] = json!("New words.");
        recorded["examples"] = json!([1]);
        prop_assert_eq!(shown(&recorded, &plain), Ok(()));
        prop_assert_eq!(shown(&plain, &recorded), Ok(()));
    }
}
