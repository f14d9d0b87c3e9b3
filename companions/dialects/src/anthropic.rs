//! Anthropic, Messages API: a `strict` tool definition.
//!
//! Sources: "Define tools" and "Structured outputs" (Anthropic API documentation, as of September 2026), and the types
//! `ToolParam` and `transform_schema` of Anthropic's Python library (2026-08-07).
//!
//! - A tool is `{name, description, input_schema}`; the schema is JSON Schema 2020-12 with an object at its root.
//! - `input_examples` are whole arguments; one that the schema refuses fails the request.
//! - `strict` has types, `enum` of scalars, `anyOf`, `default`, `required`, ten formats, and `minItems` of 0 or 1. Every
//!   object says `additionalProperties: false`, and no type lies inside itself. Numeric bounds, lengths, other bounds of
//!   lists and all further keywords fail the request: they become words. `pattern` is accepted in part; it becomes words
//!   too, as in Anthropic's own library.
//! - A parameter that may be left out stays so; what is required is generated first.
//! - The letters of a listed value may come back in another case, so two values must differ in more.
//! - All strict tools of a request together: 20 tools, 24 parameters that may be left out, 16 with several types.

use contract_runtime::ToolDescription;
use serde_json::{Map, Value, json};

use crate::limits::{Total, each};
use crate::problem::{ExportProblem, Problems};
use crate::prose;
use crate::walk::{References, Subset, reduce};

type Keywords = Map<String, Value>;

const STRICT: Subset = Subset {
    // `maxItems` is taken out at the end: until then it tells a tuple from a list of any length.
    keywords: &["format", "default", "minItems", "maxItems"],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    closed: true,
    typed: true,
    all_required: false,
    // Definitions are accepted, but not said to be counted once: what is written out is counted as it is used.
    references: References::Inlined,
    prepare,
    finish,
};

pub(super) fn strict(tool: &ToolDescription<'_>) -> Result<Value, Problems> {
    let quiet = tool.input_schema_without_widths(32);
    let schema = reduce(tool.name(), &quiet, &STRICT)?;
    distinct(tool.name(), &schema)?;
    let mut exported = Map::new();
    let mut put = |key: &str, value: Value| exported.insert(key.to_owned(), value);
    put("name", json!(tool.name()));
    put("description", json!(tool.description()));
    let examples = tool.examples(&schema);
    put("input_schema", schema);
    put("strict", json!(true));
    if !examples.is_empty() {
        put("input_examples", json!(examples));
    }
    Ok(Value::Object(exported))
}

/// What one request may hold, all its strict tools together.
pub(super) const TOTALS: [Total; 3] = [
    ("strict tools", 20, |_| 1),
    ("parameters that may be left out", 24, |size| size.optional),
    ("values of several types", 16, |size| size.unions),
];

/// How long a list must be is said, but for the one item that the dialect can ask for.
fn prepare(node: &mut Keywords, said: &mut Vec<String>) {
    if let (Some(Value::Array(places)), Some(Value::Bool(false))) =
        (node.get("prefixItems"), node.get("items"))
        && !node.contains_key("maxItems")
    {
        let most = json!(places.len());
        node.insert("maxItems".to_owned(), most);
    }
    let least = node.get("minItems").and_then(Value::as_u64);
    let ends = ["minItems", "maxItems"].into_iter();
    let ends = ends.filter(|end| *end == "maxItems" || least > Some(1));
    let ends = ends.filter_map(|end| Some((end.to_owned(), node.get(end)?.clone())));
    said.extend(prose::phrases(&ends.collect()));
    if least > Some(1) {
        node.insert("minItems".to_owned(), json!(1));
    }
}

/// Takes out what has been said.
fn finish(node: &mut Keywords) {
    node.shift_remove("maxItems");
}

/// Refuses values that differ only in the case of their letters.
fn distinct(tool: &str, schema: &Value) -> Result<(), Problems> {
    let mut problems = Vec::new();
    each(schema, "", &mut |keywords, at| {
        let values = keywords.get("enum").and_then(Value::as_array);
        let mut folded: Vec<(String, &str)> = Vec::new();
        for value in values.into_iter().flatten().filter_map(Value::as_str) {
            let lower = value.to_lowercase();
            if let Some((_, other)) = folded.iter().find(|(known, _)| *known == lower) {
                let what = format!("the choice between `{other}` and `{value}`");
                let advice = "use values that differ in more than the case of their letters";
                problems.push(ExportProblem::inexpressible(tool, at, &what, advice));
            }
            folded.push((lower, value));
        }
    });
    if problems.is_empty() {
        return Ok(());
    }
    Err(problems)
}
