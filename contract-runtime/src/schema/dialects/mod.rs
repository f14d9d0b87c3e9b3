//! Lists tools in the plain dialects, which take the neutral schema as it is. Strict and reduced ones are in `contract-dialects`.

mod description;
mod dialect;
pub(crate) mod inline;
mod mcp;
mod rename;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::json_text::ObjectText;

pub use description::{Definitions, ToolDescription};
pub use dialect::{Dialect, McpRevision, UnknownDialect};

/// Writes all tools in a dialect, as the text of one array.
pub(crate) fn export<'t>(
    tools: impl Iterator<Item = ToolDescription<'t>>,
    dialect: Dialect,
) -> String {
    let mut text = String::from("[");
    for tool in tools {
        if text.len() > 1 {
            text.push(',');
        }
        write(&tool, dialect, &mut text);
    }
    text.push(']');
    text
}

/// Writes one tool behind what is written.
fn write(tool: &ToolDescription<'_>, dialect: Dialect, out: &mut String) {
    if let Dialect::Mcp(revision) = dialect {
        out.push_str(&mcp::tool(tool, revision).to_string());
        return;
    }
    let mut object = ObjectText::begin(out);
    match dialect {
        Dialect::OpenAiChat => {
            object.string("type", "function");
            let mut function = ObjectText::begin(object.key("function"));
            openai(tool, &mut function);
            function.end();
        }
        Dialect::OpenAiResponses => {
            object.string("type", "function");
            openai(tool, &mut object);
        }
        Dialect::Anthropic => anthropic(tool, &mut object),
        Dialect::Neutral | Dialect::Mcp(_) => neutral(tool, &mut object),
    }
    object.end();
}

/// `strict` is always stated: the responses API guesses where it is not.
fn openai(tool: &ToolDescription<'_>, object: &mut ObjectText<'_>) {
    object.string("name", tool.name);
    object.string("description", &tool.description());
    object.json("parameters", &tool.quiet_text());
    object.json("strict", "false");
}

/// `strict` is left out, because older models do not know it. `input_examples` are whole arguments; one that the schema refuses
/// fails the request.
fn anthropic(tool: &ToolDescription<'_>, object: &mut ObjectText<'_>) {
    object.string("name", tool.name);
    object.string("description", &tool.description());
    let input = tool.quiet_text();
    object.json("input_schema", &input);
    // Few tools have any, which takes reading the schema.
    if input.contains("\"examples\"") {
        let examples = tool.examples(tool.input_schema());
        if !examples.is_empty() {
            object.value("input_examples", &Value::Array(examples));
        }
    }
}

fn neutral(tool: &ToolDescription<'_>, object: &mut ObjectText<'_>) {
    object.string("name", tool.name);
    if let Some(title) = tool.title {
        object.string("title", title);
    }
    object.string("description", &tool.description());
    object.json("parameters", &tool.input_text());
    if let Some(output) = &tool.output {
        object.json("output", output.text());
    }
}
