use std::time::Duration;

use rmcp::model::Tool;

use super::draft::current;
use super::listed::size;
use super::names::shortened;
use crate::schema::InputSchema;
use crate::tool::{DynamicSpec, Hints};

/// The longest definition of one tool, in bytes of JSON text.
const BYTES: usize = 1 << 20;

/// One listed tool, ready to be made.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) spec: DynamicSpec,
    /// What its results are held to.
    pub(super) output: Option<InputSchema>,
}

/// A listed tool as a tool of ours, or in a sentence why it is none.
pub(super) fn taken(tool: &Tool, name: String, timeout: Option<Duration>) -> Result<Taken, String> {
    let bytes = size(tool);
    if bytes > BYTES {
        return Err(format!(
            "its definition has {bytes} bytes, and {BYTES} are taken"
        ));
    }
    let input = current(tool.input_schema.as_ref().clone());
    InputSchema::from_object(input.clone())
        .map_err(|error| format!("its input schema cannot be enforced: {}", said(&error)))?;
    let annotations = tool.annotations.as_ref();
    let title = tool
        .title
        .as_deref()
        .or_else(|| annotations?.title.as_deref());
    let description = tool.description.as_deref().unwrap_or_default();
    let mut spec = DynamicSpec::new(name, description).input_schema(input);
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
    if let Some(timeout) = timeout {
        spec = spec.timeout(timeout);
    }
    let mut output = None;
    if let Some(schema) = &tool.output_schema {
        let schema = current(schema.as_ref().clone());
        let enforced = InputSchema::of_value(schema)
            .map_err(|error| format!("its output schema cannot be enforced: {}", said(&error)))?;
        spec = spec.output_schema(enforced.json().clone());
        output = Some(enforced);
    }
    Ok(Taken { spec, output })
}

fn said(error: &crate::SchemaError) -> String {
    shortened(&error.to_string())
}
