//! The sanitizer of a client of language models finds nothing to change in the strict exports.

#[path = "../../tests/dialects/exports_sample.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod exports_sample;
#[path = "../../tests/dialects/judges_tools.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod judges_tools;

use contract_dialects::{StrictDialect, StrictExport as _};
use contract_runtime::prelude::*;
use exports_sample::SAMPLES;
use genai::chat::{JsonSchemaDialect, sanitize_json_schema};
use judges_tools::{registry, with_recursion};
use serde_json::Value;

const STRICT: [(StrictDialect, &str, JsonSchemaDialect); 3] = [
    (
        StrictDialect::OpenAiChat,
        "/function/parameters",
        JsonSchemaDialect::OpenAiStrictTool,
    ),
    (
        StrictDialect::OpenAiResponses,
        "/parameters",
        JsonSchemaDialect::OpenAiStrictTool,
    ),
    (
        StrictDialect::Anthropic,
        "/input_schema",
        JsonSchemaDialect::AnthropicStructured,
    ),
];

/// How many schemas were left as they are, and how many neutral ones would have been changed.
fn judge(registry: &Registry, strict: (StrictDialect, &str, JsonSchemaDialect)) -> (usize, usize) {
    let (dialect, pointer, sanitizer) = strict;
    let Ok(exported) = registry.export_strict(dialect) else {
        return (0, 0);
    };
    if !exported.not_strict.is_empty() {
        return (0, 0);
    }
    let tools = exported.tools.as_array().unwrap();
    let mut changed = 0;
    for (tool, info) in tools.iter().zip(registry.tools()) {
        let schema = tool.pointer(pointer).unwrap();
        assert_eq!(
            &sanitize_json_schema(schema, sanitizer),
            schema,
            "{dialect}"
        );
        let neutral = info.input_schema();
        changed += usize::from(&sanitize_json_schema(neutral, sanitizer) != neutral);
    }
    (tools.len(), changed)
}

#[test]
fn a_sanitizer_leaves_the_strict_exports_as_they_are() {
    for strict in STRICT {
        let samples = SAMPLES.iter().map(exports_sample::Sample::registry);
        let registries = samples.chain([registry(), with_recursion()]);
        let (mut same, mut changed) = (0, 0);
        for registry in registries {
            let (exported, would_change) = judge(&registry, strict);
            same += exported;
            changed += would_change;
        }
        println!(
            "{}: {same} schemas left as they are; {changed} of the neutral ones would change",
            strict.0
        );
        assert!(same > 40, "{same}");
        assert!(changed > 2, "{changed}");
    }
}
