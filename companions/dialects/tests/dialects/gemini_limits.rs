//! What Gemini's API is never given: other keywords than its own, and types that it has no form for.

use std::collections::BTreeMap;

use contract_dialects::{ExportProblem, StrictDialect};
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::gemini::{PARAMETERS, SCHEMA, parameter, with};
use super::judges_tools::registry;
use super::{export, tools};

/// The fields of the message `Schema`, and where each may stand.
fn is_a_schema(schema: &Value, at: &str) {
    let keywords = schema.as_object().unwrap();
    if let Some(branches) = keywords.get("anyOf") {
        assert_eq!(keywords.len(), 1, "{at}: {schema}");
        branches
            .as_array()
            .unwrap()
            .iter()
            .for_each(|one| is_a_schema(one, at));
        return;
    }
    let kind = keywords["type"].as_str().unwrap();
    for (keyword, value) in keywords {
        let at = format!("{at}/{keyword}");
        let fits = match keyword.as_str() {
            "type" => ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"].contains(&kind),
            "description" => value.is_string(),
            "nullable" => value == true,
            "enum" | "pattern" | "minLength" | "maxLength" | "format" => kind == "STRING",
            "minimum" | "maximum" => kind == "NUMBER" || kind == "INTEGER",
            "minItems" | "maxItems" => kind == "ARRAY",
            "required" => kind == "OBJECT",
            "items" => {
                is_a_schema(value, &at);
                kind == "ARRAY"
            }
            "properties" => {
                let members = value.as_object().unwrap();
                members
                    .iter()
                    .for_each(|(name, one)| is_a_schema(one, &format!("{at}/{name}")));
                kind == "OBJECT" && !members.is_empty()
            }
            _ => false,
        };
        assert!(fits, "{at}: {value}");
    }
    assert!(kind != "ARRAY" || keywords.contains_key("items"), "{at}");
    assert!(
        kind != "OBJECT" || keywords.contains_key("properties"),
        "{at}"
    );
}

#[test]
fn parameters_hold_nothing_but_the_fields_of_the_message() {
    let registry = registry();
    for tool in tools(&registry, PARAMETERS).as_array().unwrap() {
        if let Some(schema) = tool.get("parameters") {
            is_a_schema(schema, tool["name"].as_str().unwrap());
        }
    }
}

#[test]
fn json_schemas_hold_nothing_but_the_documented_keywords() {
    const KNOWN: [&str; 16] = [
        "$defs",
        "$ref",
        "type",
        "format",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
    ];
    fn look(schema: &Value) {
        let Some(keywords) = schema.as_object() else {
            return;
        };
        assert!(
            !keywords.contains_key("$ref") || keywords.len() == 1,
            "{schema}"
        );
        for (keyword, value) in keywords {
            assert!(KNOWN.contains(&keyword.as_str()), "{keyword}");
            match keyword.as_str() {
                "items" | "additionalProperties" => look(value),
                "anyOf" | "prefixItems" => value.as_array().unwrap().iter().for_each(look),
                "properties" | "$defs" => value.as_object().unwrap().values().for_each(look),
                _ => {}
            }
        }
    }
    let registry = registry();
    for tool in tools(&registry, SCHEMA).as_array().unwrap() {
        tool.get("parametersJsonSchema").into_iter().for_each(look);
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Endless {
    children: Vec<Endless>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Outer {
    inner: Vec<Inner>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Inner {
    outer: Option<Box<Outer>>,
}

/// Walk without an end.
#[tool]
fn endless(node: Endless) -> usize {
    node.children.len()
}

/// Walk to an end.
#[tool]
fn ending(node: Outer) -> usize {
    node.inner
        .iter()
        .filter(|inner| inner.outer.is_some())
        .count()
}

/// Sum up.
#[tool]
fn sum(counts: BTreeMap<String, u32>) -> u32 {
    counts.values().sum()
}

/// Look at anything.
#[tool]
fn look(any: Value, none: ()) -> String {
    format!("{any}{none:?}")
}

fn problems(registry: &Registry, dialect: StrictDialect) -> Vec<String> {
    let found = export(registry, dialect).map_err(|error| error.problems().to_vec());
    let found = found.err().unwrap_or_default();
    found
        .iter()
        .map(|problem| match problem {
            ExportProblem::Inexpressible { pointer, what, .. } => format!("{pointer}: {what}"),
            other => other.to_string(),
        })
        .collect()
}

#[test]
fn what_cannot_be_said_is_named_with_its_place() {
    assert_eq!(
        problems(&with(endless), PARAMETERS),
        ["/properties/node: a type inside itself"]
    );
    assert_eq!(
        problems(&with(endless), SCHEMA),
        ["/$defs/Endless: a type that always holds itself"]
    );
    assert_eq!(
        problems(&with(ending), PARAMETERS),
        ["/properties/node: a type inside itself"]
    );
    assert_eq!(problems(&with(ending), SCHEMA), [""; 0]);
    assert_eq!(
        problems(&with(sum), PARAMETERS),
        ["/properties/counts: an object without properties"]
    );
    assert_eq!(problems(&with(sum), SCHEMA), [""; 0]);
    assert_eq!(
        problems(&with(look), PARAMETERS),
        ["/properties/any: a value of any type"]
    );
    assert_eq!(
        parameter(&json!({"type": "null"}), PARAMETERS).unwrap_err(),
        "`by_hand`: a value that is always null at `/properties/it` cannot be expressed in this dialect; leave it out"
    );
}
