//! Converts one listed tool to a tool of a registry.

use std::sync::Arc;
use std::time::Duration;

use contract_runtime::{DynamicSpec, Hints, Tool, Validator};
use rmcp::model;

use super::call::Remote;
use super::connection::Connection;
use super::listed::size;
use super::names::{legal, shortened};

/// The longest definition of one tool, in bytes of JSON text.
const BYTES: usize = 1 << 20;

/// Converts a listed tool of a server; the error is a sentence that says why it cannot be imported.
pub(super) fn convert(
    tool: &model::Tool,
    timeout: Duration,
    server: &Arc<str>,
    connection: &Connection,
) -> Result<Tool, String> {
    let bytes = size(tool);
    if bytes > BYTES {
        return Err(format!(
            "its definition has {bytes} bytes, and at most {BYTES} are accepted"
        ));
    }
    let input = serde_json::Value::Object(tool.input_schema.as_ref().clone());
    Validator::of_arguments(input.clone())
        .map_err(|error| format!("its input schema cannot be enforced: {}", message(&error)))?;
    let annotations = tool.annotations.as_ref();
    let title = tool
        .title
        .as_deref()
        .or_else(|| annotations?.title.as_deref());
    let description = tool.description.as_deref().unwrap_or_default();
    let mut spec = DynamicSpec::new(legal(&tool.name), description)
        .input_schema(input)
        .source(&**server)
        .timeout(timeout);
    if let Some(title) = title {
        spec = spec.title(title);
    }
    if let Some(hints) = annotations {
        spec = spec.hints(Hints::new(
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
        ));
    }
    let mut output = None;
    if let Some(schema) = &tool.output_schema {
        let schema = serde_json::Value::Object(schema.as_ref().clone());
        let enforced = Validator::of_value(schema).map_err(|error| {
            format!("its output schema cannot be enforced: {}", message(&error))
        })?;
        spec = spec.output_schema(enforced.schema().clone());
        output = Some(enforced);
    }
    let remote = Arc::new(Remote {
        name: tool.name.to_string(),
        server: Arc::clone(server),
        output,
        connection: connection.clone(),
    });
    Ok(Tool::dynamic_with(spec, move |arguments, context| {
        Arc::clone(&remote).call(arguments, context)
    }))
}

fn message(error: &contract_runtime::SchemaError) -> String {
    shortened(&error.to_string())
}
