//! Pairs of schemas with known answers.

use serde_json::{Value, json};

use super::{not_wider, shown, wider};

#[test]
fn bounds_are_compared_by_the_values_that_they_leave() {
    let integer = |keyword: &str, at: Value| json!({"type": "integer", keyword: at});
    wider(
        &integer("minimum", json!(1)),
        &integer("exclusiveMinimum", json!(0)),
    );
    wider(
        &integer("exclusiveMinimum", json!(0)),
        &integer("minimum", json!(1)),
    );
    wider(
        &integer("minimum", json!(1)),
        &integer("minimum", json!(0.5)),
    );
    wider(
        &integer("maximum", json!(2.5)),
        &integer("exclusiveMaximum", json!(3)),
    );
    let number = |keyword: &str, at: Value| json!({"type": "number", keyword: at});
    wider(
        &number("minimum", json!(0)),
        &number("exclusiveMinimum", json!(0)),
    );
    not_wider(
        &number("exclusiveMinimum", json!(0)),
        &number("minimum", json!(0)),
        ": before: at least 0; now: more than 0",
    );
    not_wider(
        &integer("maximum", json!(9_007_199_254_740_992_u64)),
        &integer("maximum", json!(9_007_199_254_740_993_u64)),
        ": before: at most 9007199254740993; now: at most 9007199254740992",
    );
    not_wider(
        &integer("minimum", json!(0)),
        &json!({"type": "integer"}),
        ": before: no lower end; now: at least 0",
    );
    // Two ends together: the tighter counts.
    wider(
        &integer("minimum", json!(5)),
        &json!({"type": "integer", "minimum": 1, "allOf": [{"exclusiveMinimum": 4}]}),
    );
    not_wider(
        &number("exclusiveMinimum", json!(0.5)),
        &number("minimum", json!(0.5)),
        ": before: at least 0.5; now: more than 0.5",
    );
}

#[test]
fn types_are_compared_one_by_one() {
    wider(&json!({"type": "number"}), &json!({"type": "integer"}));
    wider(
        &json!({"type": ["string", "null"]}),
        &json!({"type": "string"}),
    );
    not_wider(
        &json!({"type": "integer"}),
        &json!({"type": "number"}),
        ": before: may be a number with a fraction; now: never a number with a fraction",
    );
    not_wider(
        &json!({"type": "string"}),
        &json!({"type": ["string", "null"]}),
        ": before: may be `null`; now: never `null`",
    );
    not_wider(
        &json!(false),
        &json!({"type": "null"}),
        ": before: accepted; now: not accepted",
    );
    wider(&json!(false), &json!({"type": "null", "not": {}}));
}

#[test]
fn listed_values_are_tried() {
    let units = |values: Value| json!({"type": "string", "enum": values});
    wider(&units(json!(["m", "ft"])), &units(json!(["ft"])));
    wider(&json!({"enum": [true, false]}), &json!({"type": "boolean"}));
    wider(
        &json!({"enum": [1, 2, 3]}),
        &json!({"type": "integer", "minimum": 1, "maximum": 3}),
    );
    wider(
        &json!({"type": "integer", "not": {"const": 0}}),
        &json!({"type": "integer", "minimum": 1}),
    );
    wider(&json!({"maxLength": 2}), &units(json!(["m", "ft"])));
    wider(&json!({"const": 1.0}), &json!({"const": 1}));
    wider(
        &units(json!(["m"])),
        &json!({"enum": ["m", "ft", 1], "maxLength": 1, "type": "string"}),
    );
    not_wider(
        &units(json!(["m"])),
        &units(json!(["m", "ft"])),
        ": before: may be `\"ft\"`; now: never `\"ft\"`",
    );
    not_wider(
        &units(json!(["m"])),
        &json!({"type": "string"}),
        ": before: any value; now: only listed values",
    );
    // Both alternatives hold of 3.
    assert!(
        shown(
            &json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}),
            &json!({"const": 3})
        )
        .is_err()
    );
}

#[test]
fn alternatives_are_found_for_each_case() {
    let alternatives = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    wider(&alternatives, &json!({"type": ["null", "string"]}));
    wider(
        &json!({"type": ["null", "string", "integer"]}),
        &alternatives,
    );
    let tagged = |kinds: &[&str]| {
        let one = |kind: &&str| json!({"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]});
        json!({"oneOf": kinds.iter().map(one).collect::<Vec<_>>()})
    };
    wider(&tagged(&["a", "b", "c"]), &tagged(&["b", "a"]));
    assert!(shown(&tagged(&["a", "b"]), &tagged(&["a", "c"])).is_err());
    // `a` would hold twice, which `oneOf` refuses.
    not_wider(
        &tagged(&["a", "a"]),
        &tagged(&["a"]),
        ": cannot be proven compatible: more than one alternative of `oneOf` may hold",
    );
    // What was tried for the first alternative and failed is not known for the second.
    let twice = json!({
        "anyOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/one"}],
        "$defs": {"one": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    });
    assert!(
        shown(
            &twice,
            &json!({"type": "object", "properties": {"a": {"type": "number"}}})
        )
        .is_err()
    );
}

#[test]
fn objects_are_compared_member_by_member() {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let two = json!({"a": {"type": "integer"}, "b": {"type": "string"}});
    wider(
        &object(two.clone(), json!(["a"])),
        &object(json!({"a": {"type": "integer"}}), json!(["a"])),
    );
    wider(
        &object(two.clone(), json!([])),
        &object(two.clone(), json!(["a", "b"])),
    );
    not_wider(
        &object(two.clone(), json!(["a", "b"])),
        &object(two.clone(), json!(["a"])),
        "/b: before: may be left out; now: must be given",
    );
    not_wider(
        &object(json!({"a": {"type": "integer"}}), json!([])),
        &object(two.clone(), json!([])),
        "/b: before: accepted; now: not accepted",
    );
    not_wider(
        &object(two, json!([])),
        &json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}),
        "/*: before: accepted; now: not accepted",
    );
    let map = |values: Value| json!({"type": "object", "additionalProperties": values});
    wider(
        &map(json!({"type": "number"})),
        &map(json!({"type": "integer"})),
    );
    let named = |values: Value| json!({"type": "object", "patternProperties": {"^[0-9]+$": values}, "additionalProperties": false});
    wider(
        &named(json!({"type": "number"})),
        &named(json!({"type": "integer"})),
    );
    assert!(
        shown(
            &named(json!({"type": "integer"})),
            &named(json!({"type": "number"}))
        )
        .is_err()
    );
    wider(
        &json!({"minProperties": 1}),
        &json!({"type": "object", "required": ["x"]}),
    );
    wider(
        &json!({"dependentRequired": {"a": ["b"]}}),
        &json!({"type": "object", "required": ["b"]}),
    );
}

#[test]
fn arrays_are_compared_item_by_item() {
    let list = |items: Value| json!({"type": "array", "items": items});
    wider(
        &list(json!({"type": "number"})),
        &list(json!({"type": "integer"})),
    );
    not_wider(
        &list(json!({"type": "integer"})),
        &list(json!({"type": "number"})),
        "/*: before: may be a number with a fraction; now: never a number with a fraction",
    );
    not_wider(
        &list(json!({"type": "integer"})),
        &json!({"type": "array", "items": {"type": ["integer", "null"]}, "maxItems": 1}),
        "/*: before: may be `null`; now: never `null`",
    );
    let pair = json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false});
    wider(
        &json!({"type": "array", "maxItems": 2, "items": {"type": ["integer", "string"]}}),
        &pair,
    );
    not_wider(
        &json!({"type": "array", "maxItems": 1}),
        &pair,
        ": before: at most 2 items; now: at most 1 item",
    );
    wider(
        &json!({"uniqueItems": true}),
        &json!({"type": "array", "maxItems": 1}),
    );
    wider(
        &json!({"contains": {"type": "number"}}),
        &json!({"type": "array", "minItems": 1, "items": {"type": "integer"}}),
    );
    wider(
        &json!({"contains": {"type": "number"}}),
        &json!({"type": "array", "contains": {"type": "integer"}}),
    );
    wider(
        &json!({"contains": {"type": "integer"}, "minContains": 0, "maxContains": 3}),
        &json!({"type": "array", "contains": {"type": "number"}, "minContains": 0, "maxContains": 2}),
    );
    let containing =
        |least: u8| json!({"type": "array", "contains": {"type": "integer"}, "minContains": least});
    wider(&containing(1), &containing(2));
    assert!(shown(&containing(2), &containing(1)).is_err());
}

#[test]
fn texts_are_compared_by_length_and_pattern() {
    let text = json!({"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a"});
    wider(
        &json!({"type": "string", "minLength": 1, "pattern": "^a"}),
        &text,
    );
    not_wider(
        &json!({"type": "string", "pattern": "^ab"}),
        &text,
        ": cannot be proven compatible: not every text that matches `\"^a\"` is known to match `\"^ab\"`",
    );
    not_wider(
        &json!({"type": "string", "pattern": "^ab"}),
        &json!({"type": "string", "maxLength": 4}),
        ": before: no pattern; now: only texts that match `\"^ab\"`",
    );
    not_wider(
        &json!({"maxLength": 3}),
        &text,
        ": before: at most 4 characters; now: at most 3 characters",
    );
}

#[test]
fn what_is_refused_may_become_less() {
    let without = |refused: Value| json!({"type": "string", "not": refused});
    wider(
        &without(json!({"pattern": "^a", "minLength": 3})),
        &without(json!({"pattern": "^a"})),
    );
    assert!(
        shown(
            &without(json!({"pattern": "^a"})),
            &without(json!({"pattern": "^b"}))
        )
        .is_err()
    );
    assert!(shown(&without(json!({"const": "a"})), &json!({"type": "string"})).is_err());
    let some = json!({"type": "string", "minLength": 1});
    let shorter = |most: u8| json!({"type": "string", "maxLength": most});
    wider(&without(json!({"anyOf": [shorter(0)]})), &some);
    // One of the refused alternatives can be met, and it is not the first.
    assert!(shown(&without(json!({"anyOf": [shorter(0), shorter(3)]})), &some).is_err());
}

#[test]
fn multiples_may_be_of_a_divisor() {
    let step = |of: Value| json!({"type": "number", "multipleOf": of});
    wider(&step(json!(2)), &step(json!(6)));
    wider(&step(json!(0.1)), &step(json!(0.5)));
    wider(&step(json!(0.5)), &json!({"type": "integer"}));
    assert!(shown(&step(json!(6)), &step(json!(2))).is_err());
}
