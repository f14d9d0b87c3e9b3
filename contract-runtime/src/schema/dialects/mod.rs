//! Converts the neutral schema to each provider's dialect: one file each, with its rules and their sources.

mod anthropic;
mod description;
mod dialect;
mod dnf;
mod gemini;
pub(crate) mod inline;
mod keywords;
mod limits;
mod mcp;
mod merge;
mod openai;
mod problem;
mod prose;
mod rename;
#[cfg(test)]
mod tests;
mod union;
mod walk;

use serde_json::Value;

use self::limits::exceeded;
use super::json_text::ObjectText;
use super::stored::parse;

pub use description::{Definitions, ToolDescription};
pub use dialect::{Dialect, McpRevision, UnknownDialect};
pub use problem::ExportProblem;

type Problems = Vec<ExportProblem>;

/// All tools in a dialect, as one array.
pub(crate) enum Exported {
    /// As text, where the schemas are taken as they are kept.
    Text(String),
    Value(Value),
}

/// Writes one tool behind what is written.
type Write = fn(&ToolDescription<'_>, &mut String);

/// How a tool is written in a dialect that takes the neutral schema as it is.
fn straight(dialect: Dialect) -> Option<Write> {
    match dialect {
        Dialect::OpenAiChat { strict: false } => Some(openai::write_chat),
        Dialect::OpenAiResponses { strict: false } => Some(openai::write_responses),
        Dialect::Anthropic { strict: false } => Some(anthropic::write),
        Dialect::Neutral => Some(neutral),
        _ => None,
    }
}

/// All tools in a dialect, and why some of them are not strict where that was asked for.
pub(crate) fn export<'t, T: Fn(Definitions, Dialect) -> ToolDescription<'t>>(
    tools: impl Iterator<Item = T>,
    dialect: Dialect,
) -> Result<(Exported, Problems), Problems> {
    if let Some(write) = straight(dialect) {
        let mut text = String::from("[");
        for tool in tools {
            if text.len() > 1 {
                text.push(',');
            }
            write(&tool(Definitions::Inlined, dialect), &mut text);
        }
        text.push(']');
        return Ok((Exported::Text(text), Vec::new()));
    }
    let tools: Vec<_> = tools.collect();
    let inlined = all(&tools, dialect, Definitions::Inlined);
    let exported = match inlined {
        // Inlined definitions count each time towards the limits of a dialect.
        Err(_) => all(&tools, dialect, Definitions::Kept),
        inlined => inlined,
    };
    exported.map(|(tools, not_strict)| (Exported::Value(Value::Array(tools)), not_strict))
}

fn all<'t>(
    tools: &[impl Fn(Definitions, Dialect) -> ToolDescription<'t>],
    dialect: Dialect,
    definitions: Definitions,
) -> Result<(Vec<Value>, Problems), Problems> {
    let mut problems = Vec::new();
    let mut not_strict = Vec::new();
    let mut done = Vec::new();
    for tool in tools {
        match as_strict_as_can_be(tool, dialect, definitions) {
            Ok((exported, why)) => {
                done.push(exported);
                not_strict.extend(why);
            }
            Err(found) => problems.extend(found),
        }
    }
    // What is missing cannot be counted.
    if problems.is_empty() {
        problems.extend(totals(&done, dialect));
    }
    if problems.is_empty() {
        return Ok((done, not_strict));
    }
    Err(problems)
}

/// One tool; where it cannot be strict as asked, without `strict`, and why.
fn as_strict_as_can_be<'t>(
    tool: &impl Fn(Definitions, Dialect) -> ToolDescription<'t>,
    dialect: Dialect,
    definitions: Definitions,
) -> Result<(Value, Problems), Problems> {
    let one = |dialect, definitions| written(&tool(definitions, dialect), dialect);
    let exported = one(dialect, definitions).or_else(|why| {
        let kept = one(dialect, Definitions::Kept);
        kept.map_err(|_| why)
    });
    match (exported, dialect.loose()) {
        (Ok(exported), _) => Ok((exported, Vec::new())),
        (Err(why), Some(loose)) => Ok((one(loose, definitions)?, why)),
        (Err(why), None) => Err(why),
    }
}

fn written(tool: &ToolDescription<'_>, dialect: Dialect) -> Result<Value, Problems> {
    match dialect {
        Dialect::OpenAiChat { strict: true } => openai::chat(tool),
        Dialect::OpenAiResponses { strict: true } => openai::responses(tool),
        Dialect::Anthropic { strict: true } => anthropic::strict(tool),
        Dialect::GeminiParameters => gemini::with_parameters(tool),
        Dialect::GeminiJsonSchema => gemini::with_json_schema(tool),
        Dialect::Mcp(revision) => Ok(mcp::tool(tool, revision)),
        straight => {
            let mut text = String::new();
            let write = self::straight(straight).unwrap_or(neutral);
            write(tool, &mut text);
            Ok(parse(&text))
        }
    }
}

/// What a dialect limits over all strict tools of one request.
fn totals(tools: &[Value], dialect: Dialect) -> Problems {
    let strict = |at: &str| -> Vec<&Value> {
        let is_strict = |tool: &&Value| tool.pointer(at) == Some(&Value::Bool(true));
        tools.iter().filter(is_strict).collect()
    };
    match dialect {
        Dialect::OpenAiChat { strict: true } => exceeded(
            &strict("/function/strict"),
            "/function/parameters",
            &openai::TOTALS,
        ),
        Dialect::OpenAiResponses { strict: true } => {
            exceeded(&strict("/strict"), "/parameters", &openai::TOTALS)
        }
        Dialect::Anthropic { strict: true } => {
            exceeded(&strict("/strict"), "/input_schema", &anthropic::TOTALS)
        }
        _ => Vec::new(),
    }
}

fn neutral(tool: &ToolDescription<'_>, out: &mut String) {
    let mut object = ObjectText::begin(out);
    object.string("name", tool.name);
    if let Some(title) = tool.title {
        object.string("title", title);
    }
    object.string("description", &tool.description());
    object.json("parameters", &tool.input_text());
    if let Some(output) = &tool.output {
        object.json("output", output.text());
    }
    object.end();
}
