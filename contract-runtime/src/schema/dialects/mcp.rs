//! Model Context Protocol: a tool as `tools/list` gives it, in two revisions.
//!
//! Source: Model Context Protocol, "Server Features: Tools" and `schema.ts` (`Tool`, `ToolAnnotations`), revisions
//! 2025-11-25 and 2026-07-28.
//!
//! - `inputSchema` is JSON Schema 2020-12 where no `$schema` says otherwise, with an object at its root: the neutral schema, without
//!   the ends of 64-bit types, from which a model learns nothing.
//! - An argument whose value must never be shown is `writeOnly` ("JSON Schema Validation" 2020-12, section 9.4): a client
//!   that shows calls to people can leave it out, and one that imports the tool keeps it as secret as it was.
//! - A tool without arguments is `{"type":"object","properties":{},"additionalProperties":false}`.
//! - `outputSchema` is that of an object in 2025-11-25, and any schema in 2026-07-28. A tool whose result is not an object has
//!   none in the older revision: to wrap the result is a matter of the server that sends it.
//! - An annotation is there where its author gave the hint; the defaults are the protocol's.
//! - `_meta` carries the contract as data, under a key whose prefix is a domain in reverse ("General fields: `_meta`"):
//!   each condition, and how much of it the schema says. A server adds rules for peers.

use serde_json::{Map, Value, json};

use super::description::without_widths;
use super::{McpRevision, ToolDescription};
use crate::schema::Hints;
use crate::schema::lower::PublishedCondition;

/// Where the contract stands in `_meta`: `docs.rs/contract-runtime`, in reverse.
const CONTRACT: &str = "rs.docs.contract-runtime/contract";

pub(super) fn tool(tool: &ToolDescription<'_>, revision: McpRevision) -> Value {
    let mut exported = Map::new();
    let mut put = |key: &str, value: Value| exported.insert(key.to_owned(), value);
    put("name", json!(tool.name));
    if let Some(title) = tool.title {
        put("title", json!(title));
    }
    put("description", json!(tool.description()));
    put("inputSchema", input(tool));
    let output = tool.output_schema();
    if let Some(output) = output.filter(|schema| admits(schema, revision)) {
        put("outputSchema", without_widths(&output, &output, 64));
    }
    let annotations = annotations(tool.hints);
    if !annotations.is_empty() {
        put("annotations", Value::Object(annotations));
    }
    let conditions: Vec<_> = tool
        .conditions
        .iter()
        .filter(|one| one.policy().ends_the_call())
        .map(condition)
        .collect();
    if !conditions.is_empty() {
        let contract = json!({"conditions": conditions});
        put("_meta", json!({ CONTRACT: contract }));
    }
    Value::Object(exported)
}

fn input(tool: &ToolDescription<'_>) -> Value {
    let mut schema = tool.input_schema_without_widths(64);
    tool.enforced.mark_secrets(&mut schema);
    if let Value::Object(keywords) = &mut schema {
        if keywords.get("required") == Some(&json!([])) {
            keywords.shift_remove("required");
        }
        if let Some(dialect) = tool.enforced.dialect() {
            keywords.shift_insert(0, "$schema".to_owned(), json!(dialect));
        }
    }
    schema
}

fn admits(output: &Value, revision: McpRevision) -> bool {
    match revision {
        McpRevision::November2025 => output.get("type").is_some_and(|types| types == "object"),
        McpRevision::July2026 => true,
    }
}

fn annotations(hints: Hints) -> Map<String, Value> {
    [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ]
    .into_iter()
    .filter_map(|(name, hint)| Some((name.to_owned(), json!(hint?))))
    .collect()
}

fn condition(published: &PublishedCondition) -> Value {
    let condition = published.condition();
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
    put("id", json!(published.id()));
    put("kind", json!(condition.kind()));
    put("predicate", json!(condition.predicate()));
    if let Some(message) = condition.message() {
        put("message", json!(message));
    }
    put("lowering", json!(published.lowering()));
    if let Some(heading) = published.heading() {
        put("heading", json!(heading));
    }
    put("sentence", json!(published.sentence()));
    Value::Object(data)
}
