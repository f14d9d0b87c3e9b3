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

use std::cmp::Ordering;

use contract_runtime::ToolDescription;
use contract_schema::Decimal;
use contract_schema::reader::join;
use contract_schema::vocabulary::{KeywordValue, holds, subschemas};
use serde_json::{Map, Number, Value, json};

use crate::dnf::{is_recursive, named, names};
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
        inclusive(node, said);
        list(node, said, |value| value.is_string() || value.is_number());
    },
    finish: apart,
};

pub(super) fn with_parameters(tool: &ToolDescription<'_>) -> Result<Value, Problems> {
    declaration(tool, "parameters", &PARAMETERS, spell)
}

pub(super) fn with_json_schema(tool: &ToolDescription<'_>) -> Result<Value, Problems> {
    declaration(tool, "parametersJsonSchema", &JSON_SCHEMA, endless)
}

fn declaration(
    tool: &ToolDescription<'_>,
    key: &str,
    subset: &Subset,
    complete: fn(&str, &mut Value, &str, &mut Problems),
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
        complete(tool.name(), &mut schema, "", &mut problems);
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
fn endless(tool: &str, schema: &mut Value, _: &str, problems: &mut Problems) {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    for (name, _) in definitions.into_iter().flatten() {
        let at = join("/$defs", name);
        if is_recursive(schema, &at, demanded) {
            let what = "a type that always holds itself";
            let advice =
                "let the field that holds it be absent, with `Option` or `#[serde(default)]`";
            problems.push(ExportProblem::inexpressible(tool, &at, what, advice));
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

const PARAMETERS: Subset = Subset {
    keywords: &[
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ],
    formats: &["date-time"],
    closed: false,
    typed: true,
    all_required: false,
    references: References::Inlined,
    prepare,
    finish,
};

fn prepare(node: &mut Keywords, said: &mut Vec<String>) {
    let is_number = |types: &Value| named(types, "integer") || named(types, "number");
    inclusive(node, said);
    if let (Some(true), Some(Value::Array(values))) =
        (node.get("type").map(is_number), node.get("enum"))
    {
        let values = values.clone();
        between(node, &values);
    }
    doubles(node, said);
    list(node, said, |value| {
        value.as_str().is_some_and(|text| !text.is_empty())
    });
}

fn finish(schema: &mut Keywords) {
    match schema.shift_remove("anyOf") {
        Some(Value::Array(branches)) => *schema = choice(std::mem::take(schema), branches),
        _ => typed(schema),
    }
}

fn typed(schema: &mut Keywords) {
    let Some(types) = schema.get_mut("type") else {
        return;
    };
    let given = names(types);
    let other = given.iter().find(|name| **name != "null");
    let Some(other) = other.map(|name| json!(name)) else {
        return;
    };
    let null = named(types, "null");
    *types = other;
    if null {
        schema.insert("nullable".to_owned(), json!(true));
    }
}

/// `anyOf` with nothing beside it: what was said of all branches is said in the first.
fn choice(whole: Keywords, branches: Vec<Value>) -> Keywords {
    let count = branches.len();
    let mut branches: Vec<Keywords> = branches
        .into_iter()
        .filter_map(|branch| match branch {
            Value::Object(branch) if !is_null(&branch) => Some(branch),
            _ => None,
        })
        .collect();
    let nullable = branches.len() < count;
    let Some(first) = branches.first_mut() else {
        let mut null = whole;
        null.insert("type".to_owned(), json!("null"));
        return null;
    };
    if nullable {
        first.insert("nullable".to_owned(), json!(true));
    }
    if let Some(outer) = whole.get("description").and_then(Value::as_str) {
        let text = match first.shift_remove("description") {
            Some(Value::String(inner)) if !outer.contains(&inner) => format!("{outer}\n{inner}"),
            _ => outer.to_owned(),
        };
        let place = usize::from(first.contains_key("type"));
        first.shift_insert(place, "description".to_owned(), json!(text));
    }
    if branches.len() == 1 {
        return branches.swap_remove(0);
    }
    Keywords::from_iter([("anyOf".to_owned(), json!(branches))])
}

fn is_null(schema: &Keywords) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

/// Finds what the message has no form for, and spells the types as its enumeration does.
fn spell(tool: &str, schema: &mut Value, at: &str, problems: &mut Problems) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let mut problem =
        |what, advice| problems.push(ExportProblem::inexpressible(tool, at, what, advice));
    let properties = keywords.get("properties").and_then(Value::as_object);
    let bare = properties.is_none_or(Map::is_empty);
    if let Some(Value::String(name)) = keywords.get_mut("type") {
        match name.as_str() {
            "null" => problem("a value that is always null", "leave it out"),
            "object" if bare => {
                let advice = "give it fields, use a list of keys with their values, or export with `parametersJsonSchema`";
                problem("an object without properties", advice);
            }
            _ => {}
        }
        name.make_ascii_uppercase();
    }
    for (keyword, below) in keywords {
        let at = join(at, keyword);
        match (keyword.as_str(), below) {
            ("properties", Value::Object(map)) => {
                for (name, below) in map {
                    spell(tool, below, &join(&at, name), problems);
                }
            }
            ("items", below) => spell(tool, below, &at, problems),
            ("anyOf", Value::Array(branches)) => {
                for (index, below) in branches.iter_mut().enumerate() {
                    spell(tool, below, &format!("{at}/{index}"), problems);
                }
            }
            _ => {}
        }
    }
}

const ENDS: [(&str, &str, Ordering); 2] = [
    ("minimum", "exclusiveMinimum", Ordering::Greater),
    ("maximum", "exclusiveMaximum", Ordering::Less),
];

/// Exclusive bounds as inclusive ones: of integers the next, of other numbers the same and words.
fn inclusive(node: &mut Keywords, said: &mut Vec<String>) {
    let integral = node
        .get("type")
        .is_some_and(|types| named(types, "integer") && !named(types, "number"));
    for (inclusive, exclusive, tighter) in ENDS {
        let Some(Value::Number(bound)) = node.shift_remove(exclusive) else {
            continue;
        };
        let next = integral.then(|| neighbour(&bound, tighter)).flatten();
        let admitted = next.clone().unwrap_or_else(|| Value::Number(bound.clone()));
        let known = node
            .get(inclusive)
            .and_then(Value::as_number)
            .map(Decimal::of);
        let order =
            known.and_then(|known| admitted.as_number().map(|new| known.cmp(&Decimal::of(new))));
        if order == Some(tighter) {
            // The other bound says more.
            continue;
        }
        node.insert(inclusive.to_owned(), admitted);
        if next.is_none() {
            let exclusive = Keywords::from_iter([(exclusive.to_owned(), Value::Number(bound))]);
            said.extend(prose::phrases(&exclusive));
        }
    }
}

/// The first integer beyond an exclusive bound, if it is written in 64 bits.
fn neighbour(bound: &Number, tighter: Ordering) -> Option<Value> {
    let up = tighter == Ordering::Greater;
    let exact = bound.as_i128().or_else(|| {
        let float = bound.as_f64()?;
        let inside = float.abs() < 9.0e15;
        #[allow(clippy::cast_possible_truncation, reason = "its size was asked")]
        let whole = |float: f64| inside.then_some(float as i128);
        // A value that is not an integer has its neighbours on both sides.
        if up {
            whole(float.floor())
        } else {
            whole(float.ceil())
        }
    })?;
    let next = if up { exact + 1 } else { exact - 1 };
    let signed = i64::try_from(next).map(Value::from);
    signed
        .or_else(|_| u64::try_from(next).map(Value::from))
        .ok()
}

/// Bounds that are not the same as doubles become words: they would be rounded, perhaps inwards.
fn doubles(node: &mut Keywords, said: &mut Vec<String>) {
    for keyword in ["minimum", "maximum"] {
        let exact = |value: &Value| {
            let number = value.as_number()?;
            Some(Decimal::of(number) == Decimal::of_float(number.as_f64()?))
        };
        if node
            .get(keyword)
            .is_some_and(|value| exact(value) != Some(true))
        {
            let inexact = node.shift_remove_entry(keyword);
            said.extend(prose::phrases(&inexact.into_iter().collect()));
        }
    }
}

/// The bounds of a list of numbers.
fn between(node: &mut Keywords, values: &[Value]) {
    let mut numbers: Vec<&Number> = values.iter().filter_map(Value::as_number).collect();
    numbers.sort_by_key(|number| Decimal::of(number));
    let ends = [("minimum", numbers.first()), ("maximum", numbers.last())];
    for ((keyword, end), (_, _, tighter)) in ends.into_iter().zip(ENDS) {
        let known = node
            .get(keyword)
            .and_then(Value::as_number)
            .map(Decimal::of);
        let Some(end) = end else { continue };
        if known.is_none_or(|known| known.cmp(&Decimal::of(end)) != tighter) {
            node.insert(keyword.to_owned(), json!(end));
        }
    }
}
