//! What Gemini's API is given, in both of its ways.

use contract_dialects::StrictDialect;
use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, ToolFunction};
use serde_json::{Value, json};

use super::judges_tools::{Shape, Speed, registry};
use super::{export, tools};

pub(crate) const PARAMETERS: StrictDialect = StrictDialect::GeminiParameters;
pub(crate) const SCHEMA: StrictDialect = StrictDialect::GeminiJsonSchema;

pub(crate) fn with<S>(tool: impl ToolFunction<S>) -> Registry {
    Registry::builder().tool(tool).build().unwrap()
}

fn one<S>(tool: impl ToolFunction<S>, dialect: StrictDialect) -> Value {
    tools(&with(tool), dialect)[0].clone()
}

/// The exported schema of one parameter whose neutral schema is given.
pub(crate) fn parameter(schema: &Value, dialect: StrictDialect) -> Result<Value, String> {
    let input = json!({"type": "object", "properties": {"it": schema}, "required": ["it"], "additionalProperties": false});
    let spec = DynamicSpec::new("by_hand", "Made by hand.").input_schema(input);
    let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    let registry = Registry::builder().with(tool).build().unwrap();
    let (exported, _) =
        export(&registry, dialect).map_err(|error| error.problems()[0].to_string())?;
    let key = if dialect == PARAMETERS {
        "parameters"
    } else {
        "parametersJsonSchema"
    };
    Ok(exported[0][key]["properties"]["it"].clone())
}

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "it is written as a table")]
fn becomes(schema: Value, parameters: Value, json_schema: Value) {
    assert_eq!(
        parameter(&schema, PARAMETERS),
        Ok(parameters),
        "parameters of {schema}"
    );
    assert_eq!(
        parameter(&schema, SCHEMA),
        Ok(json_schema),
        "parametersJsonSchema of {schema}"
    );
}

/// Hire a car.
#[tool]
#[pre(days > 0 && days < 15)]
#[pre(deposit > 0.0)]
#[pre(matches!(speed, Speed::VeryFast | Speed::Slow))]
fn hire(
    /// How long.
    days: u8,
    deposit: f64,
    speed: Speed,
    note: Option<String>,
    shape: Option<Shape>,
) -> String {
    format!("{days}{deposit}{speed:?}{note:?}{shape:?}")
}

#[test]
fn a_declaration_with_parameters() {
    let tool = one(hire, PARAMETERS);
    assert_eq!(tool["name"], "hire");
    assert_eq!(tool["parameters"]["type"], "OBJECT");
    assert_eq!(
        tool["parameters"]["required"],
        json!(["days", "deposit", "speed"])
    );
    let properties = &tool["parameters"]["properties"];
    assert_eq!(
        properties["days"],
        json!({"type": "INTEGER", "description": "How long.", "minimum": 1, "maximum": 14})
    );
    assert_eq!(
        properties["deposit"],
        json!({"type": "NUMBER", "description": "more than 0", "minimum": 0})
    );
    assert_eq!(
        properties["note"],
        json!({"type": "STRING", "nullable": true})
    );
    assert_eq!(properties["speed"]["type"], "STRING");
    assert_eq!(properties["speed"]["enum"], json!(["very-fast", "slow"]));
    let shapes = properties["shape"].as_object().unwrap();
    assert_eq!(shapes.keys().collect::<Vec<_>>(), ["anyOf"]);
    assert_eq!(shapes["anyOf"][0]["nullable"], true);
    assert_eq!(
        shapes["anyOf"][0]["properties"]["kind"]["enum"],
        json!(["disk"])
    );
}

#[test]
fn a_declaration_with_a_json_schema() {
    let tool = one(hire, SCHEMA);
    let properties = &tool["parametersJsonSchema"]["properties"];
    assert_eq!(properties["note"], json!({"type": ["string", "null"]}));
    assert_eq!(
        properties["deposit"],
        json!({"type": "number", "description": "more than 0", "minimum": 0})
    );
    assert_eq!(tool["parametersJsonSchema"]["additionalProperties"], false);
}

#[test]
fn exclusive_bounds_become_inclusive_ones() {
    let is = |kind: &str, bounds: Value| {
        let mut schema = json!({"type": kind});
        schema
            .as_object_mut()
            .unwrap()
            .extend(bounds.as_object().unwrap().clone());
        schema
    };
    for (given, expected) in [
        (json!({"exclusiveMinimum": 0}), json!({"minimum": 1})),
        (json!({"exclusiveMaximum": 10}), json!({"maximum": 9})),
        (json!({"exclusiveMinimum": 0.5}), json!({"minimum": 1})),
        (json!({"exclusiveMinimum": -1.5}), json!({"minimum": -1})),
        (json!({"exclusiveMaximum": 2.5}), json!({"maximum": 2})),
        (json!({"exclusiveMaximum": 3.0}), json!({"maximum": 2})),
        // The tighter of two bounds holds.
        (
            json!({"minimum": 5, "exclusiveMinimum": 0}),
            json!({"minimum": 5}),
        ),
        (
            json!({"minimum": 0, "exclusiveMinimum": 5}),
            json!({"minimum": 6}),
        ),
        (
            json!({"maximum": 5, "exclusiveMaximum": 9}),
            json!({"maximum": 5}),
        ),
    ] {
        becomes(
            is("integer", given.clone()),
            is("INTEGER", expected.clone()),
            is("integer", expected),
        );
    }
    for (given, expected) in [
        (
            json!({"exclusiveMinimum": 0.5}),
            json!({"description": "more than 0.5", "minimum": 0.5}),
        ),
        (
            json!({"exclusiveMaximum": 1}),
            json!({"description": "less than 1", "maximum": 1}),
        ),
        (
            json!({"minimum": 1, "exclusiveMinimum": 1}),
            json!({"description": "more than 1", "minimum": 1}),
        ),
        (
            json!({"minimum": 2, "exclusiveMinimum": 1}),
            json!({"minimum": 2}),
        ),
        (
            json!({"multipleOf": 5}),
            json!({"description": "a multiple of 5"}),
        ),
    ] {
        becomes(
            is("number", given.clone()),
            is("NUMBER", expected.clone()),
            is("number", expected),
        );
    }
}

#[test]
fn bounds_that_a_double_would_round_become_words() {
    let big = 9_007_199_254_740_993_u64;
    becomes(
        json!({"type": "integer", "minimum": 1, "maximum": big}),
        json!({"type": "INTEGER", "description": format!("at most {big}"), "minimum": 1}),
        json!({"type": "integer", "minimum": 1, "maximum": big}),
    );
}

#[test]
fn lists_of_values_are_for_texts() {
    becomes(
        json!({"enum": ["a", "b"]}),
        json!({"type": "STRING", "enum": ["a", "b"]}),
        json!({"type": "string", "enum": ["a", "b"]}),
    );
    becomes(
        json!({"type": "integer", "enum": [3, 1, 2]}),
        json!({"type": "INTEGER", "description": "one of 3, 1, 2", "minimum": 1, "maximum": 3}),
        json!({"type": "integer", "enum": [3, 1, 2]}),
    );
    // Of a list and a bound the tighter holds.
    becomes(
        json!({"type": "integer", "enum": [3, 1, 2], "minimum": 0, "maximum": 2}),
        json!({"type": "INTEGER", "description": "one of 3, 1, 2", "minimum": 1, "maximum": 2}),
        json!({"type": "integer", "enum": [3, 1, 2], "minimum": 0, "maximum": 2}),
    );
    becomes(
        json!({"type": "boolean", "const": true}),
        json!({"type": "BOOLEAN", "description": "exactly true"}),
        json!({"type": "boolean", "description": "exactly true"}),
    );
    becomes(
        json!({"type": "string", "enum": ["", "a"]}),
        json!({"type": "STRING", "description": "one of \"\", \"a\""}),
        json!({"type": "string", "enum": ["", "a"]}),
    );
    becomes(
        json!({"type": ["string", "null"], "enum": ["a", null]}),
        json!({"type": "STRING", "enum": ["a"], "nullable": true}),
        json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
    );
    // Null is not among the values.
    becomes(
        json!({"type": ["string", "null"], "enum": ["a"]}),
        json!({"type": "STRING", "enum": ["a"]}),
        json!({"type": "string", "enum": ["a"]}),
    );
}

#[test]
fn a_choice_stands_alone_among_the_parameters() {
    becomes(
        json!({"description": "Either.", "type": ["integer", "string", "null"], "maximum": 4, "maxLength": 3}),
        json!({"anyOf": [
            {"type": "INTEGER", "description": "Either.", "maximum": 4, "nullable": true},
            {"type": "STRING", "maxLength": 3},
        ]}),
        json!({"description": "Either.", "anyOf": [
            {"type": "integer", "maximum": 4},
            {"type": "string", "description": "at most 3 characters"},
            {"type": "null"},
        ]}),
    );
}

#[test]
fn what_is_not_documented_is_said() {
    becomes(
        json!({"type": "string", "pattern": "^a", "minLength": 2, "format": "date-time", "default": "abc"}),
        json!({"type": "STRING", "description": "default \"abc\"", "pattern": "^a", "minLength": 2, "format": "date-time"}),
        json!({"type": "string", "description": "matches `^a`; at least 2 characters; default \"abc\"", "format": "date-time"}),
    );
    becomes(
        json!({"type": "string", "format": "uuid"}),
        json!({"type": "STRING", "description": "format uuid"}),
        json!({"type": "string", "description": "format uuid"}),
    );
    becomes(
        json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 3}),
        json!({"type": "ARRAY", "description": "no two items alike", "items": {"type": "STRING"}, "maxItems": 3}),
        json!({"type": "array", "description": "no two items alike", "items": {"type": "string"}, "maxItems": 3}),
    );
}

#[test]
fn a_tool_without_parameters_has_no_schema() {
    for dialect in [PARAMETERS, SCHEMA] {
        let registry = registry();
        let tools = tools(&registry, dialect);
        let mut tools = tools.as_array().unwrap().iter();
        let nothing = tools.find(|tool| tool["name"] == "nothing").unwrap();
        assert_eq!(
            nothing,
            &json!({"name": "nothing", "description": "Do nothing."})
        );
    }
}

#[test]
fn names_of_fields_are_plain() {
    let field = |name: &str| {
        let properties = json!({"type": "object", "properties": {name: {"type": "string"}}});
        let schema = parameter(&properties, SCHEMA).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().next().unwrap().clone()
    };
    for name in ["a", "_b", "c9", &"d".repeat(64)] {
        assert_eq!(field(name), name);
    }
    for (name, new) in [("9a", "_9a"), ("a-b", "a_b"), ("a.b", "a_b")] {
        assert_eq!(field(name), new);
    }
}
