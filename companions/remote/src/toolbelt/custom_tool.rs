use serde_json::{Map, Value};

use super::schema::Patterns;
use super::{Limits, Rules, depth, schema, text};
use crate::registry::{ToolManifest, is_tool_name};
use crate::schema::InputSchema;

/// The most characters of what a library says about a tool, which may repeat a part of it.
const REASON: usize = 300;

/// What the tools of one handshake have used up.
#[derive(Debug)]
pub(super) struct Spent {
    bytes: usize,
    patterns: Patterns,
}

impl Spent {
    pub(super) const fn nothing(limits: &Limits) -> Self {
        Self {
            bytes: 0,
            patterns: Patterns::new(limits),
        }
    }
}

/// A custom tool as it is taken, or the reason why it is not.
pub(super) fn custom(
    entry: &Value,
    limits: &Limits,
    spent: &mut Spent,
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
    spent.bytes = spent.bytes.saturating_add(bytes);
    if spent.bytes > limits.total_bytes {
        return Err(format!(
            "{} bytes of tools are the limit, and this one exceeds it",
            limits.total_bytes
        ));
    }
    let mut tool: ToolManifest = serde_json::from_value(entry.clone())
        .map_err(|error| said("no entry of a manifest", &error))?;
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
    schema::take(&mut tool.input_schema, limits, &mut spent.patterns)?;
    if let Some(output) = &mut tool.output_schema {
        schema::take(output, limits, &mut spent.patterns)?;
    }
    InputSchema::from_object(tool.input_schema.clone())
        .map_err(|error| said("the schema cannot be enforced", &error))?;
    Rules::new(&tool).map_err(|id| {
        let id = text::shown(&id, 64);
        format!("the rule of `{id}` is none of the profile")
    })?;
    Ok(with_texts_that_show(tool, limits))
}

fn said(what: &str, error: &impl std::fmt::Display) -> String {
    format!("{what}: {}", text::shown(&error.to_string(), REASON))
}

/// Every text that a person or a model reads; what is not known here is not passed on.
fn with_texts_that_show(mut tool: ToolManifest, limits: &Limits) -> ToolManifest {
    let show = |text: &mut String| *text = text::shown(text, limits.description);
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
