//! The neutral schema in the manner of each provider: one file for each, with its rules and their sources at the top.

mod anthropic;
mod dialect;
mod examples;
mod gemini;
mod limits;
mod mcp;
mod merge;
mod open;
mod openai;
mod plain;
mod problem;
mod quiet;
#[cfg(test)]
mod tests;
mod union;
mod walk;
mod words;

use serde_json::{Map, Value, json};

use super::InputSchema;
use super::lower::PublishedCondition;
use super::lower::sentence::describe;
use crate::tool::Hints;

pub use dialect::{Dialect, McpRevision, UnknownDialect};
pub use problem::ExportProblem;

/// A tool as every dialect begins with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neutral<'t> {
    pub(crate) name: &'t str,
    pub(crate) title: Option<&'t str>,
    /// As the author wrote it, without conditions.
    pub(crate) description: &'t str,
    pub(crate) conditions: &'t [PublishedCondition],
    /// The schema of the arguments, conditions included.
    pub(crate) input: &'t Value,
    /// The same before any condition.
    pub(crate) types: &'t Value,
    /// What calls are held to, which says which arguments are secret.
    pub(crate) enforced: &'t InputSchema,
    pub(crate) output: Option<&'t Value>,
    pub(crate) hints: Hints,
    /// The `$schema` of a tool that no macro made.
    pub(crate) dialect: Option<&'static str>,
}

impl Neutral<'_> {
    /// The author's description, and the conditions that the schema does not say.
    pub(super) fn told(&self) -> String {
        describe(self.description, self.conditions)
    }
}

type Problems = Vec<ExportProblem>;

/// All tools in a dialect, as one array.
pub(crate) fn export(tools: &[Neutral<'_>], dialect: Dialect) -> Result<Value, Problems> {
    let mut problems = Vec::new();
    let mut done = Vec::with_capacity(tools.len());
    for tool in tools {
        match one(tool, dialect) {
            Ok(exported) => done.push(exported),
            Err(found) => problems.extend(found),
        }
    }
    // What is missing cannot be counted.
    if problems.is_empty() {
        problems.extend(totals(&done, dialect));
    }
    if problems.is_empty() {
        return Ok(Value::Array(done));
    }
    Err(problems)
}

fn one(tool: &Neutral<'_>, dialect: Dialect) -> Result<Value, Problems> {
    match dialect {
        Dialect::OpenAiChat { strict } => openai::chat(tool, strict),
        Dialect::OpenAiResponses { strict } => openai::responses(tool, strict),
        Dialect::Anthropic { strict } => anthropic::tool(tool, strict),
        Dialect::GeminiParameters => gemini::with_parameters(tool),
        Dialect::GeminiJsonSchema => gemini::with_json_schema(tool),
        Dialect::Mcp(revision) => Ok(mcp::tool(tool, revision)),
        Dialect::Neutral => Ok(neutral(tool)),
    }
}

/// What a dialect limits over all tools of one request.
fn totals(tools: &[Value], dialect: Dialect) -> Problems {
    match dialect {
        Dialect::OpenAiChat { strict: true } => openai::totals(tools, "/function/parameters"),
        Dialect::OpenAiResponses { strict: true } => openai::totals(tools, "/parameters"),
        Dialect::Anthropic { strict: true } => anthropic::totals(tools),
        _ => Vec::new(),
    }
}

fn neutral(tool: &Neutral<'_>) -> Value {
    let mut out = Map::new();
    out.insert("name".to_owned(), json!(tool.name));
    if let Some(title) = tool.title {
        out.insert("title".to_owned(), json!(title));
    }
    out.insert("description".to_owned(), json!(tool.told()));
    out.insert("parameters".to_owned(), tool.input.clone());
    if let Some(output) = tool.output {
        out.insert("output".to_owned(), output.clone());
    }
    Value::Object(out)
}
