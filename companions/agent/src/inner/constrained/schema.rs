//! The JSON Schema of the constrained agent's replies.

use std::fmt::Write as _;

use contract_runtime::__family::{KeywordValue, holds};
use contract_runtime::Registry;
use serde_json::{Map, Value, json};

/// Returns the schema of the replies of a [`ConstrainedAgent`](super::ConstrainedAgent), as a self-contained JSON Schema (2020-12).
///
/// A reply is one JSON object, which calls a tool of the registry or answers. With `reasoning` it may begin with a text of that
/// name. Servers take the schema with a request: `response_format` (`OpenAI`), `json_schema` (llama.cpp), `structured_outputs`, in
/// older versions `guided_json` (vLLM), `format` (Ollama). A grammar in the process comes from the text of the schema, for example
/// by `json_schema_to_grammar` of llama.cpp.
///
/// ```
/// use contract_agent::reply_schema;
/// use contract_runtime::prelude::*;
///
/// /// Book a table.
/// #[tool]
/// #[pre(guests >= 1 && guests <= 12)]
/// fn book(guests: u8) {}
///
/// let registry = Registry::builder().tool(book).build()?;
/// let text = reply_schema(&registry, false).to_string();
/// assert!(text.contains(r#""maximum":12"#));
/// // llama_cpp_2::json_schema_to_grammar(&text)?
/// # Ok::<(), BuildError>(())
/// ```
#[must_use]
pub fn reply_schema(registry: &Registry, reasoning: bool) -> Value {
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
