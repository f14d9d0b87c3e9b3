//! Tools as they are shown to models that read of them in a text.

use serde_json::Value;

use crate::registry::Registry;
use crate::schema::Dialect;

/// One tool: its description states its conditions, and the schema of its arguments holds its bounds.
pub(super) struct Shown<'r> {
    pub(super) name: &'r str,
    pub(super) description: &'r str,
    pub(super) schema: &'r Value,
}

/// Every tool of a registry. One that a dialect cannot say is shown as its author wrote it.
pub(super) fn tools(registry: &Registry) -> impl Iterator<Item = Shown<'_>> {
    let exported = registry.export(Dialect::Anthropic { strict: false });
    let exported = exported
        .ok()
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    registry.tools().map(move |tool| {
        let exported = exported
            .iter()
            .find(|one| one.get("name").is_some_and(|name| name == tool.name()));
        let exported = |keyword| exported.and_then(|one| one.get(keyword));
        Shown {
            name: tool.name(),
            description: exported("description")
                .and_then(Value::as_str)
                .unwrap_or(tool.description()),
            schema: exported("input_schema").unwrap_or(tool.input_schema()),
        }
    })
}
