use serde_json::Value;

use super::{Limits, Rules};
use crate::registry::{ToolManifest, is_tool_name};
use crate::schema::InputSchema;

/// A custom tool as it is taken, or the reason why it is not.
pub(super) fn custom(entry: &Value, limits: &Limits) -> Result<ToolManifest, String> {
    let bytes = entry.to_string().len();
    if bytes > limits.tool_bytes {
        return Err(format!(
            "{bytes} bytes, and {} are the limit",
            limits.tool_bytes
        ));
    }
    if depth(entry) > limits.depth {
        return Err(format!("nested deeper than {} levels", limits.depth));
    }
    let mut tool: ToolManifest = serde_json::from_value(entry.clone())
        .map_err(|error| format!("no entry of a manifest: {error}"))?;
    if !is_tool_name(&tool.name) {
        return Err("the name is not of the form `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`".to_owned());
    }
    for schema in [Some(&tool.input_schema), tool.output_schema.as_ref()] {
        if let Some(reference) = schema.and_then(foreign) {
            return Err(format!(
                "the schema refers to `{}`, and only references inside it are followed",
                plain(reference)
            ));
        }
    }
    InputSchema::from_object(tool.input_schema.clone()).map_err(|error| error.to_string())?;
    Rules::new(&tool).map_err(|id| format!("the rule of `{}` cannot be read", plain(&id)))?;
    tool.description = plain(&tool.description)
        .chars()
        .take(limits.description)
        .collect();
    tool.title = tool.title.as_deref().map(plain);
    Ok(tool)
}

/// Without the characters that move a cursor or turn a line around.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| {
            let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
            !turns && (*c == '\n' || !c.is_control())
        })
        .collect()
}

fn depth(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The first reference to something outside the schema.
fn foreign(value: &Value) -> Option<&str> {
    match value {
        Value::Array(items) => items.iter().find_map(foreign),
        Value::Object(members) => members.iter().find_map(|(key, value)| match value {
            Value::String(to) if matches!(&**key, "$ref" | "$dynamicRef") => {
                (!to.starts_with('#')).then_some(&**to)
            }
            value => foreign(value),
        }),
        _ => None,
    }
}
