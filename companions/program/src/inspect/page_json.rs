//! Tools and outcomes as JSON for the page.

use std::time::Duration;

use contract_manifest::{Inspect as _, PortableRule};
use contract_runtime::{
    ArgumentProblem, Outcome, OutputKind, PublishedCondition, Registry, ToolInfo,
};
use serde_json::{Value, json};

use crate::artifacts::SavedArtifact;

/// All tools, in the order of the registry.
pub(super) fn tools(registry: &Registry) -> Value {
    let program = registry
        .program()
        .map(|program| json!({"name": program.name, "version": program.version}));
    let findings = registry.lint();
    let tools: Vec<Value> = registry
        .tools()
        .map(|tool| {
            let mut shown = self::tool(tool);
            let own = findings.iter().filter(|one| one.tool == tool.name());
            shown["findings"] = own.map(|one| one.message.as_str()).collect();
            shown
        })
        .collect();
    json!({"program": program, "tools": tools})
}

fn tool(tool: ToolInfo<'_>) -> Value {
    let properties = tool.input_schema()["properties"].as_object();
    let names = properties.into_iter().flat_map(|all| all.keys());
    let secrets: Vec<&String> = names.filter(|name| tool.is_secret(name)).collect();
    let conditions: Vec<Value> = tool.conditions().iter().map(condition).collect();
    json!({
        "name": tool.name(),
        "title": tool.title(),
        "description": tool.description(),
        "hints": tool.hints(),
        "input": tool.input_schema(),
        "output": tool.output_schema(),
        "timeout": tool.timeout().map(milliseconds),
        "location": tool.location(),
        "package": tool.package(),
        "secrets": secrets,
        "approval": crate::list::approval(tool),
        "conditions": conditions,
    })
}

fn condition(published: &PublishedCondition) -> Value {
    let condition = published.condition();
    let (line, column) = condition.position();
    let rule = PortableRule::of(published);
    json!({
        "id": published.id(),
        "kind": condition.kind(),
        "predicate": condition.predicate(),
        "message": condition.message(),
        "asks": condition.asks(),
        "lowering": published.lowering(),
        "heading": published.heading(),
        "sentence": published.sentence(),
        "rule": rule.as_ref().map(|rule| &rule.rule),
        "paths": rule.as_ref().map(|rule| &rule.paths),
        "parameters": condition.parameters(),
        "policy": published.policy(),
        "line": line,
        "column": column,
    })
}

/// An outcome.
pub(super) fn outcome(outcome: &Outcome, took: Duration) -> Value {
    let json = outcome.output_kind() == Some(OutputKind::Json);
    let (artifacts, _) = SavedArtifact::new(outcome.artifacts(), None);
    let artifacts: Vec<Value> = artifacts.iter().map(SavedArtifact::json).collect();
    let invalid = outcome.invalid_arguments();
    let problems: Option<Vec<Value>> = invalid.map(|invalid| {
        let one = |problem: &ArgumentProblem| {
            json!({
                "pointer": problem.pointer,
                "kind": problem.kind,
                "text": problem.to_string(),
            })
        };
        invalid.problems().iter().map(one).collect()
    });
    json!({
        "status": outcome.status(),
        "text": outcome.output(),
        "json": json,
        "error": outcome.error(),
        "artifacts": artifacts,
        "violation": outcome.violation(),
        "request": outcome.approval_request(),
        "problems": problems,
        "observed": json!(outcome).get("observed").unwrap_or(&json!([])),
        "coercions": outcome.coercions(),
        "running": outcome.may_still_be_running(),
        "milliseconds": milliseconds(took),
    })
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
