//! Tests of the steps shared by the dialects.

mod prose;
mod superset;

use serde_json::{Value, json};

use crate::dnf::both;
use crate::problem::ExportProblem;
use crate::walk::{References, Subset, reduce};

const FORM: Subset = Subset {
    keywords: &["minimum", "maximum"],
    formats: &[],
    closed: true,
    typed: true,
    all_required: false,
    references: References::Kept,
    prepare: |_, _| {},
    finish: |_| {},
};

fn object(property: &Value) -> Value {
    json!({"type": "object", "properties": {"p": property}, "required": ["p"], "additionalProperties": false})
}

fn property(property: &Value) -> Value {
    with(property, &FORM)
}

fn with(property: &Value, subset: &Subset) -> Value {
    let reduced = reduce("t", &object(property), subset);
    reduced.unwrap_or_else(|problems| panic!("{problems:?}"))["properties"]["p"].clone()
}

fn problems(input: &Value) -> Vec<(String, String)> {
    let problems = reduce("t", input, &FORM).expect_err("a problem");
    let pairs = problems.into_iter().map(|problem| match problem {
        ExportProblem::Inexpressible { pointer, what, .. } => (pointer, what),
        other => panic!("{other}"),
    });
    pairs.collect()
}

#[test]
fn what_is_said_twice_is_merged_to_the_tightest() {
    let merge = |left: Value, right: Value| {
        let both = both(left.as_object().unwrap(), right.as_object().unwrap());
        both.map(Value::Object)
    };
    assert_eq!(
        merge(
            json!({"type": "number", "minimum": 1, "maximum": 9}),
            json!({"type": "integer", "minimum": 3, "maximum": 20})
        ),
        Some(json!({"type": "integer", "minimum": 3, "maximum": 9}))
    );
    assert_eq!(
        merge(json!({"enum": [1, 2, "a"]}), json!({"enum": [2.0, "a", 3]})),
        Some(json!({"enum": [2, "a"]}))
    );
    assert_eq!(merge(json!({"enum": [1]}), json!({"enum": [2]})), None);
    assert_eq!(
        merge(json!({"type": "string"}), json!({"type": "null"})),
        None
    );
    assert_eq!(
        merge(json!({"pattern": "a"}), json!({"pattern": "b"})),
        Some(json!({"pattern": "a", "allOf": [{"pattern": "b"}]}))
    );
    assert_eq!(
        merge(
            json!({"contains": {"const": 1}, "minContains": 2}),
            json!({"contains": {"const": 2}, "maxContains": 5})
        ),
        Some(json!({
            "contains": {"const": 1}, "minContains": 2,
            "allOf": [{"contains": {"const": 2}, "maxContains": 5}],
        }))
    );
    // A closed object does not admit the members of the other.
    assert_eq!(
        merge(
            json!({"type": "object", "properties": {"a": {}, "b": {}}}),
            json!({"properties": {"a": {}}, "additionalProperties": false})
        ),
        Some(json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}))
    );
}

#[test]
fn a_dropped_keyword_is_said_where_it_stood() {
    assert_eq!(
        property(&json!({"type": "string", "minLength": 2, "description": "A name."})),
        json!({"type": "string", "description": "A name. (at least 2 characters)"})
    );
    assert_eq!(
        property(&json!({
            "type": "array", "items": {"type": "integer", "multipleOf": 2}, "maxItems": 3,
        })),
        json!({
            "type": "array", "description": "at most 3 items",
            "items": {"type": "integer", "description": "a multiple of 2"},
        })
    );
    // It says nothing of this type.
    assert_eq!(
        property(&json!({"type": "integer", "minLength": 2, "minimum": 1})),
        json!({"type": "integer", "minimum": 1})
    );
}

#[test]
fn combinations_become_choices() {
    assert_eq!(
        property(&json!({"allOf": [{"type": "integer"}, {"minimum": 1}, {"minimum": 3}]})),
        json!({"type": "integer", "minimum": 3})
    );
    assert_eq!(
        property(&json!({
            "type": "integer", "description": "N.",
            "oneOf": [{"maximum": 1}, {"minimum": 9}],
        })),
        json!({
            "description": "N.",
            "anyOf": [{"type": "integer", "maximum": 1}, {"type": "integer", "minimum": 9}],
        })
    );
    assert_eq!(
        property(&json!({
            "oneOf": [
                {"type": "string", "const": "a", "description": "First."},
                {"type": "string", "const": "b"},
            ],
        })),
        json!({"type": "string", "description": "\"a\": First", "enum": ["a", "b"]})
    );
    assert_eq!(
        property(&json!({"type": ["string", "integer", "null"], "minimum": 1, "maxLength": 3})),
        json!({"anyOf": [
            {"type": "string", "description": "at most 3 characters"},
            {"type": "integer", "minimum": 1},
            {"type": "null"},
        ]})
    );
}

/// What serde's `flatten` of a tagged enum looks like: members beside a choice of further members.
#[test]
fn members_beside_a_choice_go_into_each_of_its_forms() {
    let form = |tag: &str| {
        json!({
            "type": "object",
            "properties": {"kind": {"type": "string", "const": tag}},
            "required": ["kind"],
        })
    };
    let written = |tag: &str| {
        json!({
            "type": "object", "additionalProperties": false,
            "properties": {"a": {"type": "string"}, "kind": {"type": "string", "enum": [tag]}},
            "required": ["a", "kind"],
        })
    };
    assert_eq!(
        property(&json!({
            "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            "oneOf": [form("x"), form("y")],
        })),
        json!({"anyOf": [written("x"), written("y")]})
    );
}

#[test]
fn a_tuple_admits_each_of_its_types_everywhere() {
    let tuple = json!({
        "type": "array", "minItems": 2, "maxItems": 2,
        "prefixItems": [{"type": "string"}, {"type": "integer", "minimum": 1}],
    });
    assert_eq!(
        property(&tuple),
        json!({
            "type": "array",
            "description": "exactly 2 items; items in this order: a string, an integer and at least 1",
            "items": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]},
        })
    );
    let subset = Subset {
        keywords: &["minimum", "prefixItems", "minItems", "maxItems"],
        ..FORM
    };
    assert_eq!(with(&tuple, &subset), tuple);
}

#[test]
fn types_that_cannot_be_said_are_named_all_together() {
    let input = json!({
        "type": "object",
        "properties": {
            "any": true,
            "list": {"type": "array"},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            "deep": {"type": "object", "properties": {"patterns": {
                "type": "object", "properties": {}, "patternProperties": {"^a": {"type": "string"}},
            }}},
            "never": {"not": {}, "type": "string"},
        },
        "required": ["any"],
    });
    let problems = problems(&input);
    let pointers: Vec<_> = problems
        .iter()
        .map(|(pointer, _)| pointer.as_str())
        .collect();
    assert_eq!(
        pointers,
        [
            "/properties/any",
            "/properties/list/items",
            "/properties/map",
            "/properties/deep/properties/patterns",
        ]
    );
}

#[test]
fn arguments_that_are_a_choice_cannot_be_said() {
    let form = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let found = problems(&json!({"type": "object", "anyOf": [form("a"), form("b")]}));
    assert_eq!(found[0].0, "");
}

fn nodes() -> Value {
    json!({
        "type": "object",
        "properties": {
            "first": {"$ref": "#/$defs/Node"},
            "second": {"$ref": "#/$defs/Node", "description": "The other."},
            "leaf": {"$ref": "#/$defs/Leaf", "description": "Where."},
            "bare": {"$ref": "#/$defs/Leaf"},
        },
        "required": ["first", "second", "leaf", "bare"],
        "$defs": {
            "Leaf": {"type": "integer", "minimum": 1, "description": "A leaf."},
            "Node": {
                "type": "object",
                "properties": {
                    "leaf": {"$ref": "#/$defs/Leaf"},
                    "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                    "other": {"$ref": "#/$defs/Node", "minProperties": 1},
                },
            },
            "Unused": true,
        },
    })
}

#[test]
fn references_stand_alone_and_recursion_stays() {
    let reduced = reduce("t", &nodes(), &FORM).unwrap();
    assert_eq!(
        reduced["properties"],
        json!({
            "first": {"$ref": "#/$defs/Node"},
            "second": {"description": "The other.", "anyOf": [{"$ref": "#/$defs/Node"}]},
            "leaf": {"type": "integer", "description": "Where.\nA leaf.", "minimum": 1},
            "bare": {"$ref": "#/$defs/Leaf"},
        })
    );
    let node = &reduced["$defs"]["Node"]["properties"];
    assert_eq!(
        node["other"],
        json!({"description": "at least 1 entry", "anyOf": [{"$ref": "#/$defs/Node"}]})
    );
    assert_eq!(
        node["next"],
        json!({"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]})
    );
    assert!(reduced["$defs"].get("Unused").is_none());
}

#[test]
fn a_type_inside_itself_is_a_problem_where_it_cannot_be_said() {
    let references = References::Inlined;
    let found = reduce("t", &nodes(), &Subset { references, ..FORM }).unwrap_err();
    let at = |pointer: &str| {
        found.iter().any(|problem| {
            matches!(problem, ExportProblem::Inexpressible { pointer: at, .. } if at == pointer)
        })
    };
    assert!(at("/properties/first"), "{found:?}");
}

#[test]
fn a_long_chain_of_types_written_out_ends() {
    let mut definitions = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/T{}", level + 1), "description": "D."});
        definitions.insert(
            format!("T{level}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    definitions.insert("T30".to_owned(), json!({"type": "string"}));
    let mut input = object(&json!({"$ref": "#/$defs/T0", "description": "D."}));
    input["$defs"] = Value::Object(definitions);
    let found = problems(&input);
    assert!(
        found.iter().any(|(_, what)| what == "a type of this size"),
        "{found:?}"
    );
}
