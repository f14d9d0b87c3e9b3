//! Google Gemini: a function declaration, with `parameters` or with `parametersJsonSchema`.
//!
//! Sources: `FunctionDeclaration` and `Schema` of the Gemini API (`google/genai/types.py` of its Python library,
//! 2026-08-21), the text of the field `responseJsonSchema` in its generated clients, and errors that the API was reported
//! to answer with (agno-agi/agno#2112, google-gemini/gemini-cli#3178 and #4400, googleapis/python-genai#625,
//! BrokkAi/bifrost#25, ahmadrosid/nakama#292; 2025 and 2026).
//!
//! Both:
//! - The names of parameters are `[a-zA-Z_][a-zA-Z0-9_]*`, up to 64 characters; others are
//!   exported under such a name.
//! - `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf` are unknown. Of integers an inclusive bound says the same as
//!   an exclusive one; of other numbers it says less, and words say the rest.
//! - A tool without parameters has no schema at all: an object without properties fails the request.
//!
//! `parameters` is a message in protocol buffers, not a JSON Schema: an unknown key fails the request.
//! - `type` is one name of its enumeration, in capitals, and is everywhere. Null is `nullable`.
//! - `enum` lists texts, none of them empty, of a `STRING`; lists of numbers become bounds and words.
//! - `format` of a `STRING` is `date-time`.
//! - `anyOf` stands alone in its schema.
//! - An `ARRAY` has `items`, an `OBJECT` has properties; an object of any keys cannot be said.
//! - References are for the root alone: every type is written where it is used, so none lies inside itself.
//! - Bounds are doubles: one that is not a double is left to words.
//! - `default` is accepted and ignored, and `additionalProperties` is not known everywhere: words.
//!
//! `parametersJsonSchema` is JSON Schema with the keywords that are documented for responses: what is not among them may
//! be ignored in silence, and becomes words.
//! - `enum` is for texts and numbers.
//! - A `$ref` stands alone in its schema; a type may lie inside itself only within a property that is not required.

mod number;
mod parameters;

use contract_runtime::ToolDescription;
use contract_schema::reader::join;
use contract_schema::vocabulary::{KeywordValue, holds, subschemas};
use serde_json::{Map, Value, json};

use crate::merge::{named, names};
use crate::problem::{ExportProblem, Problems};
use crate::prose;
use crate::walk::{References, Subset, reduce};

type Keywords = Map<String, Value>;

const JSON_SCHEMA: Subset = Subset {
    keywords: &[
        "format",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "additionalProperties",
    ],
    formats: &["date-time", "date", "time"],
    closed: false,
    typed: false,
    all_required: false,
    references: References::Kept,
    prepare: |node, said| {
        number::inclusive(node, said);
        list(node, said, |value| value.is_string() || value.is_number());
    },
    finish: apart,
};

pub(super) fn with_parameters(tool: &ToolDescription<'_>) -> Result<Value, Problems> {
    declaration(
        tool,
        "parameters",
        &parameters::SUBSET,
        parameters::complete,
    )
}

pub(super) fn with_json_schema(tool: &ToolDescription<'_>) -> Result<Value, Problems> {
    declaration(tool, "parametersJsonSchema", &JSON_SCHEMA, endless)
}

fn declaration(
    tool: &ToolDescription<'_>,
    key: &str,
    subset: &Subset,
    complete: fn(&str, &mut Value, &mut Problems),
) -> Result<Value, Problems> {
    let mut declaration = Map::new();
    declaration.insert("name".to_owned(), json!(tool.name()));
    declaration.insert("description".to_owned(), json!(tool.description()));
    let properties = tool
        .input_schema()
        .get("properties")
        .and_then(Value::as_object);
    if properties.is_some_and(|properties| !properties.is_empty()) {
        let quiet = tool.input_schema_without_widths(64);
        let mut schema = reduce(tool.name(), &quiet, subset)?;
        let mut problems = Vec::new();
        complete(tool.name(), &mut schema, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        declaration.insert(key.to_owned(), schema);
    }
    Ok(Value::Object(declaration))
}

/// Leaves a list of values where all of them, null aside, may be listed; elsewhere it is said.
///
/// Null is then a matter of `type` alone.
fn list(node: &mut Keywords, said: &mut Vec<String>, may: impl Fn(&Value) -> bool) {
    let Some(Value::Array(mut values)) = node.shift_remove("enum") else {
        return;
    };
    let before = values.len();
    values.retain(|value| !value.is_null());
    if before == values.len()
        && let Some(types) = node.get_mut("type")
    {
        let others: Vec<&str> = names(types)
            .into_iter()
            .filter(|name| *name != "null")
            .collect();
        if let [only] = others.as_slice() {
            *types = json!(only);
        }
    }
    if values.is_empty() {
        return;
    }
    let all = values.iter().all(may);
    let values = Keywords::from_iter([("enum".to_owned(), Value::Array(values))]);
    if all {
        node.extend(values);
    } else {
        said.extend(prose::phrases(&values));
    }
}

/// A list of values beside null as two schemas: of null in a list nothing is documented.
fn apart(schema: &mut Keywords) {
    let nullable = schema
        .get("type")
        .is_some_and(|types| types.is_array() && named(types, "null"));
    if !nullable || !schema.contains_key("enum") {
        return;
    }
    let mut values = std::mem::take(schema);
    if let Some(types) = values.get_mut("type") {
        let other = names(types).into_iter().find(|name| *name != "null");
        *types = json!(other);
    }
    schema.extend(values.shift_remove_entry("description"));
    schema.insert("anyOf".to_owned(), json!([values, {"type": "null"}]));
}

/// Refuses a type that lies inside itself without a property that may be left out between.
fn endless(tool: &str, schema: &mut Value, problems: &mut Problems) {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    for (name, _) in definitions.into_iter().flatten() {
        let target = format!("#/$defs/{name}");
        let mut seen: Vec<&str> = Vec::new();
        let mut waiting = vec![target.as_str()];
        while let Some(next) = waiting.pop() {
            let next = next.strip_prefix("#/$defs/").unwrap_or_default();
            let body = definitions.and_then(|definitions| definitions.get(next));
            let mut found = Vec::new();
            if let Some(body) = body {
                demanded(body, &mut found);
            }
            if found.contains(&target.as_str()) {
                problems.push(ExportProblem::Inexpressible {
                    tool: tool.to_owned(),
                    pointer: join("/$defs", name),
                    what: "a type that always holds itself".to_owned(),
                    advice: "let the field that holds it be absent, with `Option` or `#[serde(default)]`",
                });
                break;
            }
            found.retain(|target| !seen.contains(target));
            seen.extend(&found);
            waiting.extend(found);
        }
    }
}

/// The references outside properties that may be left out.
fn demanded<'s>(schema: &'s Value, found: &mut Vec<&'s str>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let required = keywords.get("required").and_then(Value::as_array);
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(map)) => {
                let required =
                    |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
                let properties = map.iter().filter(|(name, _)| required(name));
                properties.for_each(|(_, below)| demanded(below, found));
            }
            ("$ref", Value::String(target)) => found.push(target),
            _ if holds(keyword) == KeywordValue::Map => {}
            _ => subschemas(keyword, value).for_each(|below| demanded(below, found)),
        }
    }
}
