//! Accepts or refuses the custom tools of a handshake.

use contract_manifest::ToolManifest;
use contract_runtime::__family::is_tool_name;
use contract_runtime::Validator;
use serde_json::{Map, Value};

use super::schema::Patterns;
use super::{Limits, Rules, depth, schema, text};

/// The most characters of a library's error message, which may quote the tool.
const REASON: usize = 300;

/// What the tools of one handshake have used of the limits.
#[derive(Debug)]
pub(super) struct Usage {
    bytes: usize,
    patterns: Patterns,
}

impl Usage {
    pub(super) const fn none(limits: &Limits) -> Self {
        Self {
            bytes: 0,
            patterns: Patterns::new(limits),
        }
    }
}

/// Validates a custom tool; returns it sanitised, or the reason for refusing it.
pub(super) fn validate(
    entry: &Value,
    limits: &Limits,
    usage: &mut Usage,
) -> Result<ToolManifest, String> {
    if depth(entry) > limits.depth {
        return Err(format!("nested deeper than {} levels", limits.depth));
    }
    let bytes = entry.to_string().len();
    if bytes > limits.tool_bytes {
        return Err(format!(
            "{bytes} bytes, and {} are the limit",
            limits.tool_bytes
        ));
    }
    usage.bytes = usage.bytes.saturating_add(bytes);
    if usage.bytes > limits.total_bytes {
        return Err(format!(
            "{} bytes of tools are the limit, and this one exceeds it",
            limits.total_bytes
        ));
    }
    let mut tool: ToolManifest = serde_json::from_value(entry.clone())
        .map_err(|error| describe("not an entry of a manifest", &error))?;
    if !is_tool_name(&tool.name) {
        return Err("the name is not of the form `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`".to_owned());
    }
    if tool.conditions.len() > limits.conditions {
        return Err(format!(
            "{} conditions, and {} are the limit",
            tool.conditions.len(),
            limits.conditions
        ));
    }
    schema::take(&mut tool.input_schema, limits, &mut usage.patterns)?;
    if let Some(output) = &mut tool.output_schema {
        schema::take(output, limits, &mut usage.patterns)?;
    }
    Validator::of_arguments(tool.input_schema.clone())
        .map_err(|error| describe("the schema cannot be enforced", &error))?;
    Rules::new(&tool).map_err(|id| {
        let id = text::sanitize(&id, 64);
        format!("the rule of `{id}` is outside the portable profile")
    })?;
    Ok(sanitize_texts(tool, limits))
}

fn describe(what: &str, error: &impl std::fmt::Display) -> String {
    format!("{what}: {}", text::sanitize(&error.to_string(), REASON))
}

/// Sanitises every text that a person or a model reads, and drops unknown fields.
fn sanitize_texts(mut tool: ToolManifest, limits: &Limits) -> ToolManifest {
    let show = |text: &mut String| *text = text::sanitize(text, limits.description);
    show(&mut tool.description);
    show(&mut tool.package);
    tool.title.as_mut().map(show);
    tool.location.as_mut().map(show);
    tool.other = Map::new();
    for condition in &mut tool.conditions {
        show(&mut condition.id);
        show(&mut condition.predicate);
        show(&mut condition.sentence);
        condition.message.as_mut().map(show);
        condition.parameters.iter_mut().for_each(show);
        condition.other = Map::new();
        if let Some(rule) = &mut condition.rule {
            show(&mut rule.id);
            show(&mut rule.message);
        }
    }
    tool
}
