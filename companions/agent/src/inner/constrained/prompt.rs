//! The prompt of the constrained agent: the form of replies, and the tools.

use std::fmt::Write as _;

use contract_runtime::Registry;
use contract_runtime::Status;
use serde_json::json;

use crate::inner::tool_prompt::{self, ToolPrompt};

/// The instructions, with every tool as it is shown to models.
pub(super) fn system(general: Option<&str>, registry: &Registry, reasoning: bool) -> String {
    let mut text = String::new();
    if let Some(general) = general {
        let _ = writeln!(text, "{general}\n");
    }
    let thought = if reasoning {
        r#""reasoning":"..","#
    } else {
        ""
    };
    text.push_str("Reply with one JSON object and nothing else. Write its keys in this order.\n");
    if registry.tools().len() > 0 {
        let _ = writeln!(
            text,
            r#"To call a tool: {{{thought}"type":"tool_call","tool":"NAME","arguments":{{..}}}}. You then receive its result."#
        );
    }
    let _ = writeln!(
        text,
        r#"To answer: {{{thought}"type":"answer","content":".."}}"#
    );
    if reasoning {
        text.push_str("`reasoning` is optional.\n");
    }
    for ToolPrompt {
        name,
        description,
        schema,
    } in tool_prompt::tools(registry)
    {
        let _ = write!(
            text,
            "\nTool `{name}`: {description}\nArguments, as JSON Schema: {schema}\n"
        );
    }
    text
}

/// What the model reads of the outcome of a call.
pub(super) fn result(tool: &str, status: Status, text: &str) -> String {
    json!({ "tool": tool, "status": status, "result": text }).to_string()
}
