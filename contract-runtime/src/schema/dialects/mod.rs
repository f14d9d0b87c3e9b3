//! Converts the neutral schema to each provider's dialect: one file each, with its rules and their sources.

mod anthropic;
mod dialect;
mod dnf;
mod examples;
mod gemini;
mod integer_bounds;
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

use serde_json::{Map, Value, json};

use super::InputSchema;
use super::lower::PublishedCondition;
use super::lower::sentence::describe;
use crate::schema::{Hints, Renames};

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
    /// The properties that are exported under other names than their own.
    pub(crate) renames: Option<&'t Renames>,
    /// What calls are held to, which says which arguments are secret.
    pub(crate) enforced: &'t InputSchema,
    pub(crate) output: Option<&'t Value>,
    pub(crate) hints: Hints,
    /// A person is asked about every call.
    pub(crate) confirms: bool,
    /// The `$schema` of a tool that no macro made.
    pub(crate) dialect: Option<&'static str>,
}

impl Neutral<'_> {
    /// The name under which a parameter is exported.
    pub(super) fn exported<'n>(&'n self, name: &'n str) -> &'n str {
        self.renames.map_or(name, |renames| renames.exported(name))
    }

    /// The author's description, and the conditions that the schema does not say.
    pub(super) fn told(&self) -> String {
        describe(self.description, self.conditions, self.confirms)
    }
}

type Problems = Vec<ExportProblem>;

/// All tools in a dialect, as one array, and why some of them are not strict where that was asked for.
pub(crate) fn export(
    tools: &[Neutral<'_>],
    dialect: Dialect,
) -> Result<(Value, Problems), Problems> {
    let mut problems = Vec::new();
    let mut not_strict = Vec::new();
    let mut done = Vec::with_capacity(tools.len());
    for tool in tools {
        match as_strict_as_can_be(tool, dialect) {
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
        return Ok((Value::Array(done), not_strict));
    }
    Err(problems)
}

/// One tool; where it cannot be strict as asked, without `strict`, and why.
fn as_strict_as_can_be(
    tool: &Neutral<'_>,
    dialect: Dialect,
) -> Result<(Value, Problems), Problems> {
    match (one(tool, dialect), dialect.loose()) {
        (Ok(exported), _) => Ok((exported, Vec::new())),
        (Err(why), Some(loose)) => Ok((one(tool, loose)?, why)),
        (Err(why), None) => Err(why),
    }
}

fn one(tool: &Neutral<'_>, dialect: Dialect) -> Result<Value, Problems> {
    let refused = rename::refused(tool.enforced.renames(), dialect);
    if refused.is_empty() {
        return written(tool, dialect);
    }
    let (input, types) = (
        rename::renamed(tool.input, &refused),
        rename::renamed(tool.types, &refused),
    );
    let tool = Neutral {
        input: &input,
        types: &types,
        renames: Some(&refused),
        ..*tool
    };
    written(&tool, dialect)
}

fn written(tool: &Neutral<'_>, dialect: Dialect) -> Result<Value, Problems> {
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

/// What a dialect limits over all strict tools of one request.
fn totals(tools: &[Value], dialect: Dialect) -> Problems {
    let strict = |at: &str| -> Vec<&Value> {
        let is_strict = |tool: &&Value| tool.pointer(at) == Some(&Value::Bool(true));
        tools.iter().filter(is_strict).collect()
    };
    match dialect {
        Dialect::OpenAiChat { strict: true } => {
            openai::totals(&strict("/function/strict"), "/function/parameters")
        }
        Dialect::OpenAiResponses { strict: true } => {
            openai::totals(&strict("/strict"), "/parameters")
        }
        Dialect::Anthropic { strict: true } => anthropic::totals(&strict("/strict")),
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
