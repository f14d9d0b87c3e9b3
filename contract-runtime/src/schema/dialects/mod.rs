//! Converts the neutral schema to each provider's dialect: one file each, with its rules and their sources.

mod anthropic;
mod dialect;
mod dnf;
mod examples;
mod gemini;
pub(crate) mod inline;
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

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use self::limits::exceeded;
use super::json_text::ObjectText;
use super::lower::PublishedCondition;
use super::lower::sentence::describe;
use super::stored::parse;
use super::{InputSchema, StoredSchema};
use crate::schema::{Hints, Renames};

pub use dialect::{Dialect, McpRevision, UnknownDialect};
pub use problem::ExportProblem;

/// A tool as every dialect begins with it.
#[derive(Debug)]
pub(crate) struct Neutral<'t> {
    pub(crate) name: &'t str,
    pub(crate) title: Option<&'t str>,
    /// As the author wrote it, without conditions.
    pub(crate) description: Cow<'t, str>,
    pub(crate) conditions: &'t [PublishedCondition],
    /// The schema of the arguments, where conditions change it.
    pub(crate) narrowed: Option<&'t Value>,
    /// The properties that are exported under other names than their own.
    pub(crate) renames: Option<&'t Renames>,
    /// What calls are held to before any condition; it says which arguments are secret.
    pub(crate) enforced: &'t InputSchema,
    /// Its schema, read where a dialect needs the value.
    pub(crate) types: OnceCell<Cow<'t, Value>>,
    pub(crate) output: Option<&'t StoredSchema>,
    pub(crate) hints: Hints,
    /// A person is asked about every call.
    pub(crate) confirms: bool,
}

impl Neutral<'_> {
    /// The name under which a parameter is exported.
    pub(super) fn exported<'n>(&'n self, name: &'n str) -> &'n str {
        self.renames.map_or(name, |renames| renames.exported(name))
    }

    /// The author's description, and the conditions that the schema does not say.
    pub(super) fn full_description(&self) -> String {
        describe(&self.description, self.conditions, self.confirms)
    }

    /// The schema of the arguments before any condition.
    fn types(&self) -> &Value {
        self.types.get_or_init(|| self.enforced.as_stored().read())
    }

    /// The schema of the arguments, conditions included.
    fn input(&self) -> &Value {
        self.narrowed.unwrap_or_else(|| self.types())
    }

    /// The same as text, without the ends of 64-bit types.
    fn quiet_text(&self) -> Cow<'_, str> {
        if !integer_bounds::may_have_wide_ends(self.enforced.as_stored().text()) {
            return self.input_text();
        }
        Cow::Owned(integer_bounds::quiet(self.input(), self.types(), true).to_string())
    }

    /// The same as text.
    fn input_text(&self) -> Cow<'_, str> {
        match self.narrowed {
            Some(narrowed) => Cow::Owned(narrowed.to_string()),
            None => Cow::Borrowed(self.enforced.as_stored().text()),
        }
    }
}

type Problems = Vec<ExportProblem>;

/// All tools in a dialect, as one array.
pub(crate) enum Exported {
    /// As text, where the schemas are taken as they are kept.
    Text(String),
    Value(Value),
}

/// Writes one tool behind what is written.
type Write = fn(&Neutral<'_>, &mut String);

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
pub(crate) fn export<'t>(
    tools: impl Iterator<Item = Neutral<'t>>,
    dialect: Dialect,
) -> Result<(Exported, Problems), Problems> {
    if let Some(write) = straight(dialect) {
        let mut text = String::from("[");
        for tool in tools {
            if text.len() > 1 {
                text.push(',');
            }
            prepared(&tool, dialect, Definitions::Inlined, |tool| {
                write(tool, &mut text);
            });
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

fn all(
    tools: &[Neutral<'_>],
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

/// What becomes of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Definitions {
    Inlined,
    Kept,
}

/// One tool; where it cannot be strict as asked, without `strict`, and why.
fn as_strict_as_can_be(
    tool: &Neutral<'_>,
    dialect: Dialect,
    definitions: Definitions,
) -> Result<(Value, Problems), Problems> {
    let one =
        |dialect, definitions| prepared(tool, dialect, definitions, |tool| written(tool, dialect));
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

/// Writes the tool as the clients of a dialect can read it: without references where that is possible, and with other names
/// for the properties whose names the dialect refuses.
fn prepared<T>(
    tool: &Neutral<'_>,
    dialect: Dialect,
    definitions: Definitions,
    write: impl FnOnce(&Neutral<'_>) -> T,
) -> T {
    let applies = |schema: &str| definitions == Definitions::Inlined && inline::may_apply(schema);
    let output = tool.output.filter(|output| applies(output.text()));
    let output = output.map(|output| StoredSchema::of(&inline::inlined(&output.read())));
    let refused = rename::refused(tool.enforced.renames(), dialect);
    let is_inlined = applies(tool.enforced.as_stored().text());
    if !is_inlined && refused.is_empty() && output.is_none() {
        return write(tool);
    }
    let changed = |schema: &Value| {
        let mut schema = Cow::Borrowed(schema);
        if is_inlined {
            schema = Cow::Owned(inline::inlined(&schema));
        }
        if !refused.is_empty() {
            schema = Cow::Owned(rename::renamed(&schema, &refused));
        }
        schema.into_owned()
    };
    write(&Neutral {
        description: Cow::Borrowed(&tool.description),
        narrowed: Some(&changed(tool.input())),
        renames: Some(&refused),
        types: OnceCell::from(Cow::Owned(changed(tool.types()))),
        output: output.as_ref().or(tool.output),
        ..*tool
    })
}

fn written(tool: &Neutral<'_>, dialect: Dialect) -> Result<Value, Problems> {
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

fn neutral(tool: &Neutral<'_>, out: &mut String) {
    let mut object = ObjectText::begin(out);
    object.string("name", tool.name);
    if let Some(title) = tool.title {
        object.string("title", title);
    }
    object.string("description", &tool.full_description());
    object.json("parameters", &tool.input_text());
    if let Some(output) = tool.output {
        object.json("output", output.text());
    }
    object.end();
}
