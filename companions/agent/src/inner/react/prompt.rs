//! The prompt of the text-only agent: the tools, and how to call them.

use std::fmt::Write as _;

use contract_runtime::Registry;

use crate::inner::tool_prompt::{self, ToolPrompt};

/// Renders the instructions and every tool: its description states its conditions, and its schema holds the bounds.
pub(super) fn system(own: Option<&str>, registry: &Registry) -> String {
    let mut text = String::new();
    if let Some(own) = own {
        text.push_str(own);
        text.push_str("\n\n");
    }
    if registry.tools().len() == 0 {
        text.push_str("You have no tools. Write:\n\nAnswer: your answer\n");
        return text;
    }
    text.push_str("You can use these tools:\n");
    for ToolPrompt {
        name,
        description,
        schema,
    } in tool_prompt::tools(registry)
    {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {name}\n\n{description}\n\nArguments, as JSON Schema: {schema}\n"
        );
    }
    text.push_str(
        "\nTo call a tool, write exactly this, with no other text and no code fence, and then stop:\n\n\
         Thought: why you call it\n\
         Action: the name of the tool\n\
         Action Input: its arguments as one JSON object\n\n\
         You then receive the result as an observation. When you know the answer, write:\n\n\
         Answer: your answer\n",
    );
    text
}
