//! What a model is told of the tools, and how to call them in text.

use std::fmt::Write as _;

use serde_json::Value;

use crate::registry::Registry;
use crate::schema::Dialect;

/// Every tool as it is shown to models: with its description, which states its conditions, and the schema of its arguments, which holds its bounds.
pub(super) fn system(own: Option<&str>, registry: &Registry) -> String {
    let mut text = String::new();
    if let Some(own) = own {
        text.push_str(own);
        text.push_str("\n\n");
    }
    text.push_str("You can use these tools:\n");
    let tools = registry.export(Dialect::Anthropic { strict: false });
    let shown: &[Value] = tools
        .ok()
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice);
    for tool in registry.tools() {
        let shown = shown
            .iter()
            .find(|one| one.get("name").is_some_and(|name| name == tool.name()));
        let shown = |keyword| shown.and_then(|one| one.get(keyword));
        let description = shown("description")
            .and_then(Value::as_str)
            .unwrap_or(tool.description());
        let schema = shown("input_schema").unwrap_or(tool.input_schema());
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {}\n\n{description}\n\nArguments, as JSON Schema: {schema}\n",
            tool.name()
        );
    }
    text.push_str(
        "\nTo use one, write this and stop:\n\n\
         Thought: why you use it\n\
         Action: the name of the tool\n\
         Action Input: its arguments as one JSON object\n\n\
         What comes of it is told to you as an observation. When you know enough, write this:\n\n\
         Answer: the answer\n",
    );
    text
}
