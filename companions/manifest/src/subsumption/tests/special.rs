//! Recursion, unknown keywords and defaults.

use serde_json::{Value, json};

use super::super::{Defaults, Direction, Node, accepts_all, readable};
use super::{not_wider, shown, wider};

#[test]
fn recursive_schemas_come_to_an_end() {
    let tree = |name: &str, value: Value| {
        let node = format!("#/$defs/{name}");
        json!({
            "$ref": node,
            "$defs": {name: {
                "type": "object",
                "properties": {
                    "value": value,
                    "left": {"anyOf": [{"$ref": node}, {"type": "null"}]},
                    "right": {"type": "array", "items": {"$ref": node}},
                },
            }},
        })
    };
    let (narrow, wide) = (
        tree("A", json!({"type": "integer"})),
        tree("B", json!({"type": "number"})),
    );
    wider(&wide, &narrow);
    assert!(shown(&narrow, &wide).is_err());
    wider(&narrow, &narrow);
}

#[test]
fn what_is_not_understood_must_stay() {
    let day = json!({"type": "string", "format": "date"});
    wider(&day, &day);
    wider(&json!({"type": "string"}), &day);
    not_wider(
        &day,
        &json!({"type": "string"}),
        ": cannot be proven compatible: `format` is new or has changed",
    );
    let same = json!({"type": "object", "properties": {"a": true}, "unevaluatedProperties": false});
    wider(&same, &same);
    // The keyword is the same, and what it looks at is not.
    let more = json!({"type": "object", "properties": {"a": true, "b": true}, "unevaluatedProperties": false});
    assert!(shown(&same, &more).is_err());
    let if_a = json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}});
    wider(&if_a, &if_a);
    assert!(shown(&if_a, &json!({"type": "object"})).is_err());
    assert!(readable(&json!({"$dynamicRef": "#x"})).is_err());
    assert!(readable(&json!({"$schema": "http://json-schema.org/draft-07/schema#"})).is_err());
    assert!(
        readable(&json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"})).is_err()
    );
    assert!(readable(&json!({"minLength": "3"})).is_err());
}

#[test]
fn a_default_matters_where_the_member_may_be_missing() {
    let with = |default: Value, required: Value| {
        json!({"type": "object", "properties": {"inner": {
            "type": "object", "properties": {"a": {"type": "integer", "default": default}}, "required": required,
        }}})
    };
    let (four, five) = (with(json!(4), json!([])), with(json!(5), json!([])));
    let judge = |outer: &Value, inner: &Value, defaults| {
        accepts_all(Node::root(outer), Node::root(inner), defaults)
    };
    let found = judge(&five, &four, Defaults::Matter).expect_err("the default has changed");
    assert_eq!(found.path, "/inner/a");
    assert_eq!(
        found.reason(Direction::Input),
        "before: `4` when it is left out; now: `5` when it is left out",
    );
    assert_eq!(judge(&five, &four, Defaults::AreNotes), Ok(()));
    let given = with(json!(4), json!(["a"]));
    assert_eq!(judge(&five, &given, Defaults::Matter), Ok(()));

    // The type of the member may bring it.
    let named = |default: u8| {
        json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/size"}},
            "$defs": {"size": {"type": "integer", "default": default}},
        })
    };
    assert!(judge(&named(5), &named(4), Defaults::Matter).is_err());
    assert_eq!(judge(&named(4), &named(4), Defaults::Matter), Ok(()));
}
