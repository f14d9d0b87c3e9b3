//! The dialect of `OpenAI`: its shapes, its rules, and that a strict schema refuses no call that the tool would take.

#![allow(
    clippy::manual_range_contains,
    clippy::manual_is_multiple_of,
    clippy::float_cmp,
    clippy::too_many_arguments,
    reason = "predicates are tried in every spelling"
)]

use contract_dialects::StrictDialect;
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::exports_sample::{Mode, Place, SAMPLES, Shape};
use crate::{AnyDialect, tools};

pub(crate) const STRICT: StrictDialect = StrictDialect::OpenAiChat;

pub(crate) fn parameters(registry: &Registry, dialect: impl Into<AnyDialect>) -> Value {
    let tools = tools(registry, dialect);
    let nested = tools[0].pointer("/function/parameters");
    nested.unwrap_or(&tools[0]["parameters"]).clone()
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Step {
    /// What to do.
    name: String,
    #[serde(default)]
    weight: u8,
    /// What comes after.
    #[serde(default)]
    next: Option<Box<Step>>,
}

/// Plan it.
#[tool]
#[pre(days >= 2 && days <= 30)]
#[pre(note.as_deref().is_none_or(|note| note.chars().count() <= 80))]
pub(crate) fn plan(
    /// How many.
    #[arg(default = 7, example = 3)]
    days: u32,
    note: Option<String>,
    mode: Option<Mode>,
    /// Where to.
    place: Place,
    other: Option<Place>,
    shape: Shape,
    steps: Vec<Step>,
    point: (f64, f64),
    size: Option<u64>,
) -> String {
    let steps: Vec<_> = steps
        .iter()
        .map(|step| (&step.name, step.weight, step.next.is_some()))
        .collect();
    format!("{days} {note:?} {mode:?} {place:?} {other:?} {shape:?} {steps:?} {point:?} {size:?}")
}

pub(crate) fn planner() -> Registry {
    Registry::builder().tool(plan).build().unwrap()
}

#[test]
fn each_endpoint_has_its_shape_and_strict_is_always_said() {
    let registry = planner();
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let plain = [Dialect::OpenAiChat, Dialect::OpenAiResponses].map(AnyDialect::from);
    let held = [StrictDialect::OpenAiChat, StrictDialect::OpenAiResponses].map(AnyDialect::from);
    for (strict, [chat, flat]) in [(false, plain), (true, held)] {
        let chat = &tools(&registry, chat)[0];
        assert_eq!(keys(chat), ["type", "function"]);
        let function = &chat["function"];
        assert_eq!(
            keys(function),
            ["name", "description", "parameters", "strict"]
        );
        let flat = &tools(&registry, flat)[0];
        assert_eq!(
            keys(flat),
            ["type", "name", "description", "parameters", "strict"]
        );
        assert_eq!(
            (&chat["type"], &flat["type"]),
            (&json!("function"), &json!("function"))
        );
        for key in keys(function) {
            assert_eq!(function[&key], flat[&key]);
        }
        assert_eq!(function["strict"], json!(strict));
    }
    let mut neutral = registry.tool("plan").unwrap().input_schema().clone();
    // The end of its type says nothing to a model.
    let size = neutral["properties"]["size"].as_object_mut().unwrap();
    assert!(size.shift_remove("maximum").is_some());
    assert_eq!(
        parameters(&registry, Dialect::OpenAiChat),
        super::inlined(&neutral, &neutral)
    );
}

#[test]
fn a_strict_schema_reads_like_this() {
    let schema = parameters(&planner(), STRICT);
    let properties = &schema["properties"];
    assert_eq!(
        properties["days"],
        json!({
            "type": ["integer", "null"], "description": "How many. (default 7; such as 3)",
            "minimum": 2, "maximum": 30,
        })
    );
    assert_eq!(
        properties["note"],
        json!({"type": ["string", "null"], "description": "at most 80 characters"})
    );
    assert_eq!(
        properties["mode"],
        json!({"anyOf": [
            {
                "type": "string",
                "description": "\"slow\": With care",
                "enum": ["very-fast", "off", "slow"],
            },
            {"type": "null"},
        ]})
    );
    assert_eq!(
        properties["place"],
        json!({
            "type": "object", "description": "Where to.",
            "properties": {
                "city": {"type": "string"},
                "height": {
                    "type": ["integer", "null"],
                    "description": "Above the sea, in metres. (default 0)",
                    "minimum": 0, "maximum": 65535,
                },
                "floors": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
            },
            "required": ["city", "height", "floors"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        properties["point"],
        json!({
            "type": "array",
            "items": {"type": "number"}, "minItems": 2, "maxItems": 2,
        })
    );
    assert_eq!(schema["$defs"].get("Mode"), None);
    assert_eq!(
        schema["$defs"]["Step"]["properties"]["next"],
        json!({
            "description": "What comes after.",
            "anyOf": [{"$ref": "#/$defs/Step"}, {"type": "null"}],
        })
    );
}

/// The rules of the provider, read off the schema by a reader that shares nothing with the exporter.
fn rules(schema: &Value, at: &str, broken: &mut Vec<String>) {
    const KNOWN: [&str; 19] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "anyOf",
        "$ref",
        "$defs",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    ];
    let keywords = schema
        .as_object()
        .unwrap_or_else(|| panic!("{at} is {schema}"));
    let unknown = keywords
        .keys()
        .filter(|keyword| !KNOWN.contains(&keyword.as_str()));
    broken.extend(unknown.map(|keyword| format!("{at}: {keyword}")));
    let far = |keyword: &str| {
        schema[keyword]
            .as_f64()
            .is_some_and(|bound| bound.abs() > 9_007_199_254_740_992.0)
    };
    broken.extend(
        ["minimum", "maximum"]
            .iter()
            .filter(|keyword| far(keyword))
            .map(|keyword| format!("{at}: far {keyword}")),
    );
    if keywords.contains_key("$ref") && keywords.len() > 1 {
        broken.push(format!("{at}: something beside $ref"));
    }
    if !["type", "anyOf", "$ref"]
        .iter()
        .any(|keyword| keywords.contains_key(*keyword))
    {
        broken.push(format!("{at}: no type"));
    }
    let is = |name: &str| match &schema["type"] {
        Value::Array(names) => names.iter().any(|one| one == name),
        only => only == name,
    };
    if is("object") {
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        if schema["additionalProperties"] != false || schema["required"] != json!(names) {
            broken.push(format!("{at}: not closed, or not all required"));
        }
    }
    if is("array") && !schema["items"].is_object() {
        broken.push(format!("{at}: no items"));
    }
    for map in ["properties", "$defs"] {
        for (name, below) in schema[map].as_object().into_iter().flatten() {
            rules(below, &format!("{at}/{map}/{name}"), broken);
        }
    }
    for (index, below) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
        rules(below, &format!("{at}/anyOf/{index}"), broken);
    }
    if let Some(below) = keywords.get("items") {
        rules(below, &format!("{at}/items"), broken);
    }
}

#[test]
fn every_strict_schema_keeps_the_rules() {
    let samples = SAMPLES.iter().map(crate::exports_sample::Sample::registry);
    for registry in samples.chain([planner()]) {
        let schema = parameters(&registry, STRICT);
        let mut broken = Vec::new();
        rules(&schema, "", &mut broken);
        if schema["type"] != "object" {
            broken.push("the root".to_owned());
        }
        assert!(broken.is_empty(), "{broken:?} in {schema:#}");
    }
}

#[test]
fn arguments_in_the_manner_of_strict_are_read() {
    let arguments = json!({
        "days": null, "note": null, "mode": null, "other": null, "size": null,
        "place": {"city": "Bonn", "height": null, "floors": null},
        "shape": {"kind": "disk", "radius": 1},
        "steps": [{"name": "go", "weight": null, "next": {"name": "stay", "weight": 2.0, "next": null}}],
        "point": [1, 2.5],
    });
    let validator = jsonschema::draft202012::new(&parameters(&planner(), STRICT)).unwrap();
    assert!(validator.is_valid(&arguments));
    let outcome = planner()
        .call(ToolCall::new("1", "plan", arguments.to_string()))
        .blocking();
    assert_eq!(
        outcome.output(),
        Some(concat!(
            "7 None None Place { city: \"Bonn\", height: 0, floors: None } None Disk { radius: 1.0 } ",
            "[(\"go\", 0, true)] (1.0, 2.5) None",
        )),
        "{:?}",
        outcome.error()
    );
    // Only a null that became a default is worth a word, and one below an argument where only an absent member is admitted.
    let defaults = planner().tool("plan").unwrap().input_schema()["properties"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, schema)| schema.get("default").is_some() && arguments[*name].is_null())
        .map(|(name, _)| format!("/{name}"))
        .collect::<Vec<_>>();
    let recorded = |left_out: bool| -> Vec<_> {
        let recorded = outcome.coercions().iter();
        let recorded = recorded.filter(|one| one.left_out == left_out);
        recorded.map(|one| one.pointer.clone()).collect()
    };
    assert_eq!(recorded(false).len(), 1);
    assert_eq!(recorded(false), defaults);
    assert_eq!(recorded(true), ["/place/height", "/steps/0/weight"]);
    let mut three = arguments.clone();
    three["days"] = json!(3.0);
    let outcome = planner()
        .call(ToolCall::new("1", "plan", three.to_string()))
        .blocking();
    assert!(
        outcome
            .output()
            .is_some_and(|output| output.starts_with("3 ")),
        "{:?}",
        outcome.error()
    );
}

#[test]
fn null_is_not_read_as_absent_where_something_is_required() {
    let arguments = json!({
        "place": {"city": null}, "shape": {"kind": "disk", "radius": null}, "steps": null, "point": [1, 2], "days": null,
    });
    let outcome = planner()
        .call(ToolCall::new("1", "plan", arguments.to_string()))
        .blocking();
    let error = outcome.error().unwrap_or_default();
    assert_eq!(outcome.status(), Status::InvalidArguments);
    for pointer in ["/place/city", "/shape/radius", "/steps"] {
        assert!(error.contains(pointer), "{error}");
    }
    assert!(!error.contains("/days"), "{error}");
}
