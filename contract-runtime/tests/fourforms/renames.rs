//! Properties whose names a provider refuses: exported under other names, which calls may use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use contract_runtime::prelude::*;
use contract_runtime::{Definitions, Dialect, DynamicSpec, McpRevision, ProblemKind};
use serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Filter {
    /// Where.
    #[serde(rename = "@field")]
    field: String,
    #[serde(rename = "max-hits")]
    hits: Option<u8>,
}

/// Search.
#[tool(read_only)]
#[pre(top > 0)]
fn search(
    top: u8,
    filters: Vec<Filter>,
    #[arg(default = BTreeMap::new())] labels: BTreeMap<String, u8>,
) -> String {
    let filters = filters
        .iter()
        .map(|one| format!("{}:{:?}", one.field, one.hits));
    let filters: Vec<_> = filters.collect();
    format!("{top} {filters:?} {labels:?}")
}

fn registry() -> Registry {
    Registry::builder().tool(search).build().unwrap()
}

/// The schema of the only tool, wherever the dialect has it.
fn input(dialect: Dialect, registry: &Registry) -> Value {
    let exported = registry.export(dialect);
    let tool = exported[0].get("function").unwrap_or(&exported[0]).clone();
    let keys = [
        "parameters",
        "parametersJsonSchema",
        "input_schema",
        "inputSchema",
    ];
    let found = keys.iter().find_map(|key| tool.get(*key));
    found.unwrap().clone()
}

const RENAMING: [Dialect; 3] = [
    Dialect::Anthropic,
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
];

#[test]
fn a_refused_name_is_exported_under_one_that_is_accepted_and_says_its_own() {
    let registry = registry();
    for dialect in RENAMING {
        let schema = input(dialect, &registry);
        assert!(!schema.to_string().contains("\"@field\""), "{schema}");
        let filter = &schema["properties"]["filters"]["items"];
        let expected = "Where. (This tool calls it `@field`.)";
        assert_eq!(
            filter["properties"]["field"]["description"], expected,
            "{dialect}"
        );
        assert_eq!(filter["required"], json!(["field"]), "{dialect}");
    }
    let neutral = [Dialect::Neutral, Dialect::Mcp(McpRevision::November2025)];
    for dialect in neutral {
        let filter = &input(dialect, &registry)["properties"]["filters"]["items"];
        assert!(filter["properties"]["@field"].is_object(), "{dialect}");
    }
}

#[test]
fn each_dialect_renames_only_what_it_refuses() {
    let schema = |dialect| input(dialect, &registry()).to_string();
    assert!(schema(RENAMING[0]).contains("\"max-hits\""));
    assert!(schema(RENAMING[1]).contains("\"max-hits\""));
    let registry = registry();
    let tool = registry.tool("search").unwrap();
    let plain = tool.describe(Definitions::Inlined, |_| false);
    let plain = plain.input_schema().to_string();
    assert!(
        !plain.contains("\"max-hits\"") && plain.contains("\"max_hits\""),
        "{plain}"
    );
}

#[test]
fn a_call_under_exported_names_is_the_call_under_its_own() {
    let registry = registry();
    let call = |arguments: &str| {
        registry
            .call(ToolCall::new("1", "search", arguments))
            .blocking()
    };
    let own = r#"{"top":2,"filters":[{"@field":"a","max-hits":7}],"labels":{"top":1,"field":2}}"#;
    let expected = r#"2 ["a:Some(7)"] {"field": 2, "top": 1}"#;
    assert_eq!(call(own).output(), Some(expected));
    let exported =
        r#"{"top":2,"filters":[{"field":"a","max_hits":7}],"labels":{"top":1,"field":2}}"#;
    assert_eq!(call(exported).output(), Some(expected));
    let mixed = r#"{"top":2,"filters":[{"@field":"a","max_hits":7}],"labels":{"top":1,"field":2}}"#;
    assert_eq!(call(mixed).output(), Some(expected));
}

#[test]
fn what_is_wrong_under_an_exported_name_is_refused_under_the_own_one() {
    let registry = registry();
    let call = |arguments: &str| {
        registry
            .call(ToolCall::new("1", "search", arguments))
            .blocking()
    };
    let outcome = call(r#"{"top":"x","filters":[{"field":1}]}"#);
    let invalid = outcome.invalid_arguments().unwrap();
    let pointers: Vec<_> = invalid
        .problems()
        .iter()
        .map(|one| one.pointer.as_str())
        .collect();
    assert_eq!(pointers, ["/top", "/filters/0/@field"]);
    // Both names are two answers, of which one would be lost.
    let both = call(r#"{"top":2,"filters":[{"field":"a","@field":"b"}]}"#);
    assert_eq!(
        both.invalid_arguments().unwrap().problems()[0].pointer,
        "/filters/0/field"
    );
    let check = registry
        .call(ToolCall::new("1", "search", "{\"top\":1,"))
        .blocking();
    assert_eq!(check.status(), contract_runtime::Status::InvalidArguments);
}

#[test]
fn whoever_is_asked_before_a_call_reads_own_names() {
    let seen = Arc::new(Mutex::new(String::new()));
    let into = Arc::clone(&seen);
    let hook = move |call: ToolCall, _| {
        *into.lock().unwrap() = call.arguments;
        std::future::ready(Ok(()))
    };
    let registry = Registry::builder()
        .tool(search)
        .before_call(hook)
        .build()
        .unwrap();
    let outcome = registry
        .call(ToolCall::new(
            "1",
            "search",
            r#"{"top":1,"filters":[{"field":"a"}]}"#,
        ))
        .blocking();
    assert_eq!(outcome.output(), Some(r#"1 ["a:None"] {}"#));
    assert_eq!(
        *seen.lock().unwrap(),
        r#"{"top":1,"filters":[{"@field":"a"}]}"#
    );
}

#[test]
fn a_schema_from_elsewhere_is_renamed_through_references_and_conditions() {
    let spec = DynamicSpec::new("by_hand", "Made by hand.").input_schema(json!({
        "type": "object",
        "properties": {
            "page[size]": {"type": "integer"},
            "node": {"$ref": "#/$defs/node"},
        },
        "dependentRequired": {"page[size]": ["node"]},
        "patternProperties": {"^x-": {"$ref": "#/properties/page[size]"}},
        "$defs": {"node": {
            "anyOf": [{"properties": {"a.b": {"$ref": "#/$defs/node"}}}, {"type": "string"}],
            "default": {"a.b": "end"},
        }},
    }));
    let tool = Tool::dynamic(spec, |arguments| async move {
        Ok::<_, String>(Content::text(Value::Object(arguments).to_string()))
    });
    let registry = Registry::builder().with(tool).build().unwrap();
    let schema = input(Dialect::OpenAiChat, &registry);
    assert_eq!(schema["dependentRequired"], json!({"page_size": ["node"]}));
    assert_eq!(
        schema["patternProperties"]["^x-"]["$ref"],
        "#/properties/page_size"
    );
    assert_eq!(schema["$defs"]["node"]["default"], json!({"a_b": "end"}));
    jsonschema::validator_for(&schema).unwrap();
    // It is not closed: a key that was not renamed back would be ignored in silence.
    let arguments = r#"{"page_size":5,"node":{"a_b":{"a_b":"x","a.c":1}},"other":{"a_b":1}}"#;
    let outcome = registry
        .call(ToolCall::new("1", "by_hand", arguments))
        .blocking();
    assert_eq!(
        outcome.output(),
        Some(r#"{"page[size]":5,"node":{"a.b":{"a.b":"x","a.c":1}},"other":{"a_b":1}}"#)
    );
}

#[test]
fn an_example_has_exported_names() {
    let spec = DynamicSpec::new("read", "Read.").input_schema(json!({
        "type": "object",
        "properties": {"$top": {"type": "integer", "examples": [3]}},
    }));
    let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    let registry = Registry::builder().with(tool).build().unwrap();
    let exported = registry.export(Dialect::Anthropic);
    assert_eq!(exported[0]["input_examples"], json!([{"top": 3}]));
}

/// A tool without a function, of this schema, that gives its arguments back.
fn echo(schema: Value, ignores: bool) -> Registry {
    let spec = DynamicSpec::new("echo", "Say the same.").input_schema(schema);
    let tool = Tool::dynamic(spec, |arguments| async move {
        let arguments = serde_json::Value::from(arguments);
        Ok::<_, String>(Content::text(arguments.to_string()))
    });
    let builder = Registry::builder().with(tool);
    builder.ignore_unknown_keys(ignores).build().unwrap()
}

#[test]
fn a_property_that_is_given_twice_is_refused_under_its_exported_name_too() {
    for open in [true, false] {
        for ignores in [true, false] {
            let schema = json!({
                "type": "object", "properties": {"$top": {"type": "integer"}}, "additionalProperties": open,
            });
            let registry = echo(schema, ignores);
            let call = ToolCall::new("1", "echo", r#"{"top":1,"top":2}"#);
            let outcome = registry.call(call).blocking();
            let invalid = outcome
                .invalid_arguments()
                .unwrap_or_else(|| panic!("{outcome:?}"));
            let kinds: Vec<_> = invalid.problems().iter().map(|one| one.kind).collect();
            assert_eq!(kinds, [ProblemKind::Duplicate], "{invalid}");
        }
    }
}

#[test]
fn a_key_that_is_left_out_beside_a_secret_is_not_shown() {
    let schema = json!({
        "type": "object", "properties": {"a b": {"type": "string", "writeOnly": true}}, "additionalProperties": false,
    });
    let registry = echo(schema, true);
    let call = ToolCall::new("1", "echo", r#"{"a b":"1","a_b":"hunter2"}"#);
    let outcome = registry.call(call).blocking();
    assert!(outcome.is_ok(), "{outcome:?}");
    let [left_out] = outcome.coercions() else {
        panic!("{:?}", outcome.coercions());
    };
    assert!(left_out.secret && left_out.left_out);
    assert!(
        !format!("{outcome:?}")
            .replace("Content", "")
            .contains("hunter2"),
        "{outcome:?}"
    );
}
