//! Renders tools for models that read them in the prompt.

use contract_runtime::Dialect;
use contract_runtime::Registry;
use serde_json::Value;

/// One tool: its description states its conditions, and the schema of its arguments holds its bounds.
pub(super) struct ToolPrompt<'r> {
    pub(super) name: &'r str,
    pub(super) description: &'r str,
    pub(super) schema: &'r Value,
}

/// Every tool of a registry, as a plain listing for models has it: without references, and without the ends of 64-bit types.
pub(super) fn tools(registry: &Registry) -> impl Iterator<Item = ToolPrompt<'_>> {
    let exported = registry.export(Dialect::OpenAiResponses).as_array();
    let exported = exported.map_or(&[][..], Vec::as_slice);
    registry.tools().map(move |tool| {
        let exported = exported
            .iter()
            .find(|one| one.get("name").is_some_and(|name| name == tool.name()));
        let exported = |keyword| exported.and_then(|one| one.get(keyword));
        ToolPrompt {
            name: tool.name(),
            description: exported("description")
                .and_then(Value::as_str)
                .unwrap_or(tool.description()),
            schema: exported("parameters").unwrap_or(tool.input_schema()),
        }
    })
}
