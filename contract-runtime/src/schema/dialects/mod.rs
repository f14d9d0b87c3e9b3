//! Lists tools in the plain dialects, which take the neutral schema as it is. Strict and reduced ones are in `contract-dialects`.

mod description;
pub(crate) mod inline;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::Hints;
use super::json_text::ObjectText;
use super::lower::PublishedCondition;
use description::without_widths;
pub use description::{Definitions, ToolDescription};

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
        out.push_str(&mcp(tool, revision).to_string());
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

/// Where the contract stands in `_meta`: `docs.rs/contract-runtime`, in reverse.
const CONTRACT: &str = "rs.docs.contract-runtime/contract";

/// Model Context Protocol: a tool as `tools/list` gives it, in two revisions.
///
/// Source: Model Context Protocol, "Server Features: Tools" and `schema.ts` (`Tool`, `ToolAnnotations`), revisions
/// 2025-11-25 and 2026-07-28.
///
/// - `inputSchema` is JSON Schema 2020-12 where no `$schema` says otherwise, with an object at its root: the neutral schema, without
///   the ends of 64-bit types, from which a model learns nothing.
/// - An argument whose value must never be shown is `writeOnly` ("JSON Schema Validation" 2020-12, section 9.4): a client
///   that shows calls to people can leave it out, and one that imports the tool keeps it as secret as it was.
/// - A tool without arguments is `{"type":"object","properties":{},"additionalProperties":false}`.
/// - `outputSchema` is that of an object in 2025-11-25, and any schema in 2026-07-28. A tool whose result is not an object has
///   none in the older revision: to wrap the result is a matter of the server that sends it.
/// - An annotation is there where its author gave the hint; the defaults are the protocol's.
/// - `_meta` carries the contract as data, under a key whose prefix is a domain in reverse ("General fields: `_meta`"):
///   each condition, and how much of it the schema says. A server adds rules for peers.
fn mcp(tool: &ToolDescription<'_>, revision: McpRevision) -> Value {
    let mut exported = Map::new();
    let mut put = |key: &str, value: Value| exported.insert(key.to_owned(), value);
    put("name", json!(tool.name));
    if let Some(title) = tool.title {
        put("title", json!(title));
    }
    put("description", json!(tool.description()));
    put("inputSchema", input(tool));
    let output = tool.output_schema();
    let is_object = |schema: &Value| schema.get("type").is_some_and(|types| types == "object");
    let admits = |schema: &Value| revision == McpRevision::July2026 || is_object(schema);
    if let Some(output) = output.filter(admits) {
        put("outputSchema", without_widths(&output, &output, 64));
    }
    let annotations = annotations(tool.hints);
    if !annotations.is_empty() {
        put("annotations", Value::Object(annotations));
    }
    let conditions: Vec<_> = tool
        .conditions
        .iter()
        .filter(|one| one.policy().ends_the_call())
        .map(condition)
        .collect();
    if !conditions.is_empty() {
        let contract = json!({"conditions": conditions});
        put("_meta", json!({ CONTRACT: contract }));
    }
    Value::Object(exported)
}

fn input(tool: &ToolDescription<'_>) -> Value {
    let mut schema = tool.input_schema_without_widths(64);
    tool.enforced.mark_secrets(&mut schema);
    if let Value::Object(keywords) = &mut schema {
        if keywords.get("required") == Some(&json!([])) {
            keywords.shift_remove("required");
        }
        if let Some(dialect) = tool.enforced.dialect() {
            keywords.shift_insert(0, "$schema".to_owned(), json!(dialect));
        }
    }
    schema
}

fn annotations(hints: Hints) -> Map<String, Value> {
    [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ]
    .into_iter()
    .filter_map(|(name, hint)| Some((name.to_owned(), json!(hint?))))
    .collect()
}

fn condition(published: &PublishedCondition) -> Value {
    let condition = published.condition();
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
    put("id", json!(published.id()));
    put("kind", json!(condition.kind()));
    put("predicate", json!(condition.predicate()));
    if let Some(message) = condition.message() {
        put("message", json!(message));
    }
    put("lowering", json!(published.lowering()));
    if let Some(heading) = published.heading() {
        put("heading", json!(heading));
    }
    put("sentence", json!(published.sentence()));
    Value::Object(data)
}

/// The format in which tools are listed, with their whole schema; a provider takes it as a hint to the model.
///
/// The crate [`contract-dialects`](https://docs.rs/contract-dialects) has the formats that can express less: the strict ones, whose
/// schemas a provider enforces, and those of Gemini. Each has a name, for command lines and settings, which is also how it is shown.
///
/// ```
/// use contract_runtime::Dialect;
///
/// assert_eq!(Dialect::OpenAiResponses.to_string(), "openai-responses");
/// assert_eq!("openai-responses".parse(), Ok(Dialect::OpenAiResponses));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `OpenAI` chat completions: `{"type":"function","function":{name, description, parameters, strict}}`.
    ///
    /// Source: `OpenAI` API specification, schema `ChatCompletionTool`, 2026.
    OpenAiChat,
    /// `OpenAI` responses: `{"type":"function", name, description, parameters, strict}`.
    ///
    /// Source: `OpenAI` API specification, schema `FunctionTool`, 2026.
    OpenAiResponses,
    /// Anthropic messages: `{name, description, input_schema, input_examples?}`.
    ///
    /// Source: Anthropic API reference, "Define tools", 2026.
    Anthropic,
    /// Tools as a server of the Model Context Protocol lists them.
    ///
    /// Source: Model Context Protocol, "Tools", in the revision.
    Mcp(McpRevision),
    /// `{name, description, parameters}` with plain JSON Schema 2020-12, and `title` and `output` where there are any.
    Neutral,
}

/// A revision of the Model Context Protocol, identified by its date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum McpRevision {
    /// 2025-11-25: results are described only if they are objects.
    November2025,
    /// 2026-07-28: results are always described.
    July2026,
}

impl McpRevision {
    /// Returns the revision as the protocol spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 6] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Mcp(McpRevision::November2025),
        Self::Mcp(McpRevision::July2026),
        Self::Neutral,
    ];

    /// Returns its name, for command lines and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Mcp(McpRevision::November2025) => "mcp-2025-11-25",
            Self::Mcp(McpRevision::July2026) => "mcp-2026-07-28",
            Self::Neutral => "neutral",
        }
    }

    /// Returns whether its provider certainly accepts a property of this name.
    ///
    /// A property of another name is exported under one that is accepted, and a call is understood by both. Anthropic's rule is
    /// that of the errors of its API, for parameters; fields further inside are treated alike, to be on the safe side. About
    /// `OpenAI` nothing is documented; names of another form are avoided.
    ///
    /// Source: anthropics/claude-code#79418, ComposioHQ/composio#3500, 2026.
    ///
    /// ```
    /// use contract_runtime::Dialect;
    ///
    /// assert!(Dialect::Anthropic.accepts("filter.name"));
    /// assert!(!Dialect::OpenAiChat.accepts("filter.name"));
    /// ```
    #[must_use]
    pub fn accepts(self, name: &str) -> bool {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => {
                let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                (1..=64).contains(&name.chars().count()) && name.chars().all(plain)
            }
            Self::Anthropic => {
                let plain =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
                (1..=64).contains(&name.len()) && name.bytes().all(plain)
            }
            Self::Mcp(_) | Self::Neutral => true,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not the name of a [`Dialect`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect `{given}`; write one of {}", Dialect::ALL.map(|one| format!("`{one}`")).join(", "))]
pub struct UnknownDialect {
    given: String,
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    /// Reads the exact name of a dialect.
    ///
    /// # Errors
    ///
    /// [`UnknownDialect`] for any other text, with all names.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.name() == text)
            .ok_or_else(|| UnknownDialect {
                given: text.chars().take(40).collect(),
            })
    }
}
