//! Definitions in place of references.

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{inlined, may_apply, too_long};

fn with(properties: &Value, definitions: &Value) -> Value {
    inlined(&json!({"type": "object", "properties": properties, "$defs": definitions}))
}

#[test]
fn a_definition_stands_in_place_of_each_reference_to_it() {
    let done = with(
        &json!({
            "home": {"$ref": "#/$defs/Address", "description": "Where they live.", "minProperties": 1},
            "others": {"type": "array", "items": {"$ref": "#/$defs/Address"}},
        }),
        &json!({
            "Address": {"type": "object", "description": "A place.", "properties": {"zip": {"$ref": "#/$defs/Zip"}}},
            "Zip": {"type": "string", "minLength": 5},
        }),
    );
    let zip = json!({"zip": {"type": "string", "minLength": 5}});
    assert_eq!(
        done,
        json!({"type": "object", "properties": {
            "home": {"type": "object", "description": "Where they live.", "properties": zip, "minProperties": 1},
            "others": {"type": "array", "items": {"type": "object", "description": "A place.", "properties": zip}},
        }})
    );
}

#[test]
fn a_restriction_beside_a_reference_holds_beside_that_of_the_definition() {
    let done = with(
        &json!({"cents": {"$ref": "#/$defs/Cents", "maximum": 50, "minimum": 5}}),
        &json!({"Cents": {"type": "integer", "minimum": 0}}),
    );
    assert_eq!(
        done["properties"]["cents"],
        json!({"type": "integer", "minimum": 0, "maximum": 50, "allOf": [{"minimum": 5}]})
    );
}

#[test]
fn alternatives_of_one_value_are_a_list_and_keep_what_is_said_of_each() {
    let speed = json!({"oneOf": [
        {"type": "string", "enum": ["off", "on"]},
        {"type": "string", "const": "slow", "description": "Half of it."},
    ], "description": "How fast."});
    let done = with(
        &json!({
            "bare": {"$ref": "#/$defs/Speed"},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Speed"}, {"type": "null"}]},
            "said": {"$ref": "#/$defs/Speed", "description": "Of the fan."},
            "narrowed": {"$ref": "#/$defs/Speed", "enum": ["on", "slow"]},
            "off": {"$ref": "#/$defs/Speed", "const": "off"},
        }),
        &json!({"Speed": speed}),
    );
    let list =
        |text: &str, values: Value| json!({"type": "string", "description": text, "enum": values});
    let bare = list(
        "How fast. (\"slow\": Half of it)",
        json!(["off", "on", "slow"]),
    );
    assert_eq!(
        done["properties"],
        json!({
            "bare": bare,
            "maybe": {"anyOf": [bare, {"type": "null"}]},
            "said": list("Of the fan. (\"slow\": Half of it)", json!(["off", "on", "slow"])),
            "narrowed": list("How fast. (\"slow\": Half of it)", json!(["on", "slow"])),
            "off": list("How fast.", json!(["off"])),
        })
    );
}

#[test]
fn only_a_recursive_definition_stays() {
    let done = with(
        &json!({"tree": {"$ref": "#/$defs/Tree"}, "leaf": {"$ref": "#/$defs/Leaf"}}),
        &json!({
            "Leaf": {"type": "integer"},
            "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}, "leaf": {"$ref": "#/$defs/Leaf"}}},
        }),
    );
    assert_eq!(
        done["properties"],
        json!({"tree": {"$ref": "#/$defs/Tree"}, "leaf": {"type": "integer"}})
    );
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}, "leaf": {"type": "integer"}}});
    assert_eq!(done["$defs"], json!({"Tree": tree}));
}

#[test]
fn a_schema_that_would_grow_without_bound_keeps_its_costliest_definitions() {
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/T{}", level + 1)});
        definitions.insert(
            format!("T{level}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    definitions.insert(
        "T40".to_owned(),
        json!({"type": "string", "description": "x".repeat(500)}),
    );
    let schema = json!({
        "type": "object",
        "properties": {"top": {"$ref": "#/$defs/T0"}},
        "$defs": definitions,
    });
    let done = inlined(&schema);
    assert!(
        done.to_string().len() < 40_000,
        "{}",
        done.to_string().len()
    );
    let kept: Vec<_> = done["$defs"].as_object().unwrap().keys().collect();
    assert!(!kept.is_empty());
    assert_eq!(too_long(&schema).iter().collect::<Vec<_>>(), kept);
    let mut nested = json!("x");
    for _ in 0..40 {
        nested = json!({"a": nested});
    }
    assert!(jsonschema::is_valid(&done, &json!({"top": nested})));
}

#[test]
fn a_schema_whose_references_depend_on_their_place_stays_as_it_is() {
    let plain = json!({"$defs": {"A": {}}, "properties": {"a": {"$ref": "#/$defs/A"}}});
    assert!(may_apply(&plain.to_string()));
    let named = json!({"$defs": {"A": {"$id": "https://example.com/a"}}, "properties": {"a": {"$ref": "#/$defs/A"}}});
    let dynamic = json!({"$defs": {"A": {"items": {"$dynamicRef": "#a"}}}, "properties": {"a": {"$ref": "#/$defs/A"}}});
    for schema in [named, dynamic] {
        assert!(!may_apply(&schema.to_string()), "{schema}");
    }
}

/// A schema of few levels that refers to the definitions of these names.
fn schemas(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let reference =
        prop::sample::select(names).prop_map(|name| json!({"$ref": format!("#/$defs/{name}")}));
    let beside = prop::sample::select(vec![
        json!({"minimum": 2}),
        json!({"enum": ["a", 3]}),
        json!({"const": "a"}),
        json!({"maxLength": 1}),
        json!({"required": ["a"]}),
        json!({"properties": {"a": {"type": "integer"}}}),
        json!({"description": "D."}),
    ]);
    let leaf = prop_oneof![
        reference.clone(),
        (reference, beside).prop_map(|(mut one, beside)| {
            one.as_object_mut()
                .unwrap()
                .extend(beside.as_object().unwrap().clone());
            one
        }),
        Just(json!({"type": "integer", "minimum": 1})),
        Just(
            json!({"oneOf": [{"const": "a", "type": "string", "description": "A."}, {"enum": ["b", "c"], "type": "string"}]})
        ),
        Just(json!({"oneOf": [{"const": "a"}, {"enum": ["a", "b"]}]})),
        Just(json!({"type": "string", "maxLength": 2})),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"anyOf": all})),
            (inner.clone(), inner)
                .prop_map(|(a, b)| json!({"type": "object", "properties": {"a": a, "b": b}})),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_admitted_does_not_change(root in schemas(&["A", "B", "C"]), a in schemas(&["B", "C"]), b in schemas(&["B", "C"]), c in schemas(&["C"])) {
        let schema = json!({"properties": {"v": root}, "$defs": {"A": a, "B": b, "C": c}});
        let done = inlined(&schema);
        // A definition that is nothing but a reference to itself has no meaning, and the judge refuses it.
        let (Ok(before), Ok(after)) = (Validator::new(&schema), Validator::new(&done)) else { return Ok(()) };
        let leaves = [json!("a"), json!("b"), json!("abc"), json!(1), json!(3), json!(null), json!({}), json!([])];
        let nested = leaves.iter().flat_map(|one| [json!({"a": one}), json!({"b": one}), json!({"a": one, "b": {"a": one}})]);
        for value in leaves.clone().into_iter().chain(nested) {
            let value = json!({"v": value});
            prop_assert_eq!(before.is_valid(&value), after.is_valid(&value), "{} {} {}", schema, done, value);
        }
    }
}
