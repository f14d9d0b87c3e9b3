//! What a client of the Model Context Protocol is given.

use contract_runtime::prelude::*;
use contract_runtime::{Dialect, McpRevision};
use serde::Serialize;
use serde_json::{Value, json};

use super::judges_tools::registry;

const REVISIONS: [McpRevision; 2] = [McpRevision::November2025, McpRevision::July2026];

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Weight {
    grams: u32,
}

/// Weigh a parcel.
#[tool(read_only, open_world = false)]
#[pre(number > 0, "numbers begin with {number}")]
#[post(|weight| weight.grams > 0)]
fn weigh(number: u32) -> Weight {
    Weight { grams: number }
}

/// Count parcels.
#[tool]
fn count() -> u32 {
    0
}

fn listed(registry: &Registry, revision: McpRevision, name: &str) -> Value {
    let tools = registry.export(Dialect::Mcp(revision)).as_array().unwrap();
    tools
        .iter()
        .find(|tool| tool["name"] == name)
        .unwrap()
        .clone()
}

#[test]
fn a_tool_is_listed_with_its_contract() {
    let registry = Registry::builder().tool(weigh).build().unwrap();
    for revision in REVISIONS {
        let tool = listed(&registry, revision, "weigh");
        let info = registry.tool("weigh").unwrap();
        assert_eq!(&tool["inputSchema"], info.input_schema());
        assert_eq!(Some(&tool["outputSchema"]), info.output_schema());
        assert_eq!(
            tool["annotations"],
            json!({"readOnlyHint": true, "openWorldHint": false})
        );
        assert_eq!(tool.get("title"), None);
        let text = tool["description"].as_str().unwrap();
        assert!(text.starts_with("Weigh a parcel."), "{text}");
        let contract = &tool["_meta"]["rs.docs.contract-runtime/contract"];
        let conditions = &contract["conditions"];
        let [pre, post] = conditions.as_array().unwrap().as_slice() else {
            panic!("{conditions}");
        };
        assert_eq!(pre["id"], "weigh.pre[0]");
        assert_eq!(pre["kind"], "pre");
        assert_eq!(pre["predicate"], "number > 0");
        assert_eq!(pre["lowering"], json!(info.conditions()[0].lowering()));
        assert_eq!(pre["sentence"], info.conditions()[0].sentence());
        assert_eq!(pre.get("heading"), None, "the schema says it");
        assert_eq!(
            (&post["id"], &post["kind"]),
            (&json!("weigh.post[1]"), &json!("post"))
        );
        assert_eq!((post.get("message"), post.get("rule")), (None, None));
    }
}

#[test]
fn a_result_that_is_no_object_is_described_in_the_newer_revision_only() {
    let registry = Registry::builder().tool(count).build().unwrap();
    let [older, newer] = REVISIONS.map(|revision| listed(&registry, revision, "count"));
    assert_eq!(older.get("outputSchema"), None);
    assert_eq!(
        newer["outputSchema"],
        json!({"type": "integer", "minimum": 0, "maximum": u32::MAX})
    );
}

/// Name a letter.
#[tool]
fn letter() -> char {
    'a'
}

/// Greet somebody.
#[tool]
fn greet(name: String) -> Result<std::borrow::Cow<'static, str>, String> {
    if name.is_empty() {
        return Err("there is no name".to_owned());
    }
    Ok(name.into())
}

/// Greet somebody in a form that a program reads.
#[tool(output_schema)]
fn greet_program(name: String) -> String {
    name
}

#[test]
fn a_plain_text_has_an_output_schema_only_where_the_author_asks_for_one() {
    let registry = Registry::builder();
    let registry = registry.tool(letter).tool(greet).tool(greet_program);
    let registry = registry.build().unwrap();
    let output = |name| {
        listed(&registry, McpRevision::July2026, name)
            .get("outputSchema")
            .cloned()
    };
    assert_eq!(output("letter"), None);
    assert_eq!(output("greet"), None);
    assert_eq!(output("greet_program"), Some(json!({"type": "string"})));
    let neutral = registry.export(contract_runtime::Dialect::Neutral);
    assert_eq!(neutral[0].get("output"), None);
}

#[test]
fn a_tool_without_arguments_or_conditions_is_short() {
    let registry = registry();
    for revision in REVISIONS {
        assert_eq!(
            listed(&registry, revision, "nothing"),
            json!({
                "name": "nothing",
                "description": "Do nothing.",
                "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
            })
        );
    }
}

#[test]
fn hints_are_those_that_were_given() {
    let registry = registry();
    let expected =
        json!({"destructiveHint": true, "idempotentHint": false, "openWorldHint": false});
    for revision in REVISIONS {
        assert_eq!(
            listed(&registry, revision, "nested")["annotations"],
            expected
        );
        assert_eq!(
            listed(&registry, revision, "floats").get("annotations"),
            None
        );
        assert_eq!(listed(&registry, revision, "relations")["title"], "Book");
    }
}
