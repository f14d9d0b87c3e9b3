//! What the model is told of its replies and its tools.

use std::fmt::Write as _;

use serde_json::json;

use crate::agent::inner::shown::{self, Shown};
use crate::registry::Registry;
use crate::tool::Status;

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
    text.push_str(
        "Every reply is one JSON object and nothing else, with its keys in this order.\n",
    );
    if registry.tools().len() > 0 {
        let _ = writeln!(
            text,
            r#"To use a tool: {{{thought}"type":"tool_call","tool":"NAME","arguments":{{..}}}}. You then get its result."#
        );
    }
    let _ = writeln!(
        text,
        r#"To answer: {{{thought}"type":"answer","content":".."}}"#
    );
    if reasoning {
        text.push_str("`reasoning` may be left out.\n");
    }
    for Shown {
        name,
        description,
        schema,
    } in shown::tools(registry)
    {
        let _ = write!(
            text,
            "\nTool `{name}`: {description}\nIts arguments: {schema}\n"
        );
    }
    text
}

/// What the model reads of the outcome of a call.
pub(super) fn result(tool: &str, status: Status, text: &str) -> String {
    json!({ "tool": tool, "status": status, "result": text }).to_string()
}
