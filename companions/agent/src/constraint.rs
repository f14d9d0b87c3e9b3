//! The JSON Schema of a model's replies.

use std::fmt::Write as _;

use contract_runtime::__family::{KeywordValue, holds};
use contract_runtime::{Registry, SchemaError, Validator};
use serde_json::{Map, Value, json};

/// The schema of a model's replies, as a self-contained JSON Schema (2020-12).
///
/// ```
/// use contract_agent::Constraint;
/// use contract_runtime::prelude::*;
///
/// /// Book a table.
/// #[tool]
/// #[pre(guests >= 1 && guests <= 12)]
/// fn book(guests: u8) {}
///
/// let registry = Registry::builder().tool(book).build()?;
/// let constraint = Constraint::replies(&registry, false)?;
/// assert!(constraint.json_schema().to_string().contains(r#""maximum":12"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Servers take it as `response_format` (`OpenAI`, llama.cpp), `guided_json` (vLLM) or `format` (Ollama). Whatever a server makes
/// of it, the agent judges each reply, and dispatch each call.
#[derive(Clone, Debug)]
pub struct Constraint(Value);

impl Constraint {
    /// Builds the constraint for replies that are one JSON object each, which calls a tool of the registry or answers.
    ///
    /// With `reasoning` the object may begin with a text of that name. See
    /// [`ConstrainedAgent`](super::ConstrainedAgent) for the objects.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Schema`] when a call could not enforce the schema of a tool's arguments.
    pub fn replies(registry: &Registry, reasoning: bool) -> Result<Self, ConstraintError> {
        Self::from_schema(reply_schema(registry, reasoning))
    }

    /// Builds the constraint for texts that are one JSON value and satisfy a schema (JSON Schema 2020-12, without
    /// external references).
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Schema`] for a value that is not a schema or that a call could not enforce.
    pub fn from_schema(schema: Value) -> Result<Self, ConstraintError> {
        Validator::of_value(schema.clone())?;
        Ok(Self(schema))
    }

    /// Returns the schema.
    #[must_use]
    pub fn json_schema(&self) -> &Value {
        &self.0
    }
}

/// Why a constraint cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// A call could not enforce the schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// The schema of a reply: an answer, or a call of each tool with its own arguments.
fn reply_schema(registry: &Registry, reasoning: bool) -> Value {
    let mut definitions = Map::new();
    let mut branches = Vec::new();
    for tool in registry.tools() {
        let mut arguments = tool.input_schema().clone();
        let place = place(tool.name());
        hoist(&mut arguments, &place);
        definitions.insert(tool.name().to_owned(), arguments);
        branches.push(reply(
            reasoning,
            "tool_call",
            [
                ("tool", json!({ "const": tool.name() })),
                ("arguments", json!({ "$ref": place })),
            ],
        ));
    }
    branches.push(reply(
        reasoning,
        "answer",
        [("content", json!({ "type": "string" }))],
    ));
    let mut schema = json!({ "anyOf": branches });
    if let (Value::Object(keywords), false) = (&mut schema, definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

fn reply<const N: usize>(reasoning: bool, kind: &str, members: [(&str, Value); N]) -> Value {
    let mut properties = Map::new();
    if reasoning {
        properties.insert("reasoning".to_owned(), json!({ "type": "string" }));
    }
    properties.insert("type".to_owned(), json!({ "const": kind }));
    let mut required = vec!["type"];
    for (name, schema) in members {
        required.push(name);
        properties.insert(name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The reference to the arguments of a tool (RFC 6901, section 6).
fn place(tool: &str) -> String {
    let step = tool.replace('~', "~0").replace('/', "~1");
    let mut place = String::from("#/$defs/");
    for byte in step.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            place.push(char::from(byte));
        } else {
            let _ = write!(place, "%{byte:02X}");
        }
    }
    place
}

/// Every reference of a schema that moves to another place, definitions of its own and itself included.
fn hoist(schema: &mut Value, place: &str) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        match (holds(keyword), value) {
            (KeywordValue::Schema, schema) => hoist(schema, place),
            (KeywordValue::List, Value::Array(schemas)) => {
                for one in schemas {
                    hoist(one, place);
                }
            }
            (KeywordValue::Map, Value::Object(schemas)) => {
                for one in schemas.values_mut() {
                    hoist(one, place);
                }
            }
            (_, Value::String(target)) if keyword == "$ref" => {
                if let Some(path) = target.strip_prefix('#') {
                    *target = format!("{place}{path}");
                }
            }
            _ => {}
        }
    }
}
