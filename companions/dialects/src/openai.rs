//! `OpenAI`: chat completions and responses, strict: the model is held to the schema, and:
//!
//! | rule | here |
//! |---|---|
//! | every object closed, every property required | an absent property is null |
//! | root an object, not `anyOf` | else a problem |
//! | no `allOf`, `oneOf`, `not`, `if`, `dependentRequired`, `dependentSchemas`; nothing beside `$ref` | merged, `anyOf`, or words |
//! | `const`, `default`, `examples`, `minLength`, `maxLength`, `uniqueItems`, `contains` not in the list | a list of one value, or words |
//! | `format` of nine kinds | others are words |
//! | bounds of integers | those beyond 2^53 are words |
//! | no maps, no untyped values, no tuples | problems; of a tuple every item may be any of its types |
//! | `$defs`, `$ref`, recursion | kept |
//! | totals | [`TOTALS`] |
//!
//! Names of tools need no rule: a registry holds none but those of up to 64 letters, digits, `_` and `-`.
//!
//! Sources: `OpenAI` API specification (`openapi.json`, August 2026), schemas `FunctionObject`, `FunctionTool` and
//! `FunctionToolParam`; `OpenAI`, "Structured model outputs", section "Supported schemas", 2025. That bounds on the length
//! of texts are refused is said of fine-tuned models only; words are on the safe side. Whether lists count as levels is
//! not said; they do here.

use contract_runtime::ToolDescription;
use serde_json::{Map, Value, json};

use crate::dnf::named;
use crate::limits::{Size, Total, each};
use crate::problem::{ExportProblem, Problems};
use crate::prose::phrases;
use crate::walk::{References, Subset, reduce};

const STRICT: Subset = Subset {
    keywords: &[
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    ],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    closed: true,
    typed: true,
    all_required: true,
    references: References::Kept,
    prepare: far,
    finish: |_| {},
};

const LEVELS: usize = 10;
/// An enum of more values than this may have only a limited number of characters.
const LONG_ENUM: (usize, usize) = (250, 15_000);

/// Bounds beyond what a float holds exactly (2^53) are words: a reader that rounds them would refuse values next to them.
fn far(node: &mut Map<String, Value>, words: &mut Vec<String>) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let bounds = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ];
    let is_far = |value: &Value| value.as_f64().is_some_and(|value| value.abs() > EXACT);
    let mut dropped = Map::new();
    for keyword in bounds {
        if node.get(keyword).is_some_and(is_far) && is_integer(node) {
            dropped.extend(node.shift_remove_entry(keyword));
        }
    }
    words.extend(phrases(&dropped));
}

fn is_integer(node: &Map<String, Value>) -> bool {
    node.get("type")
        .is_some_and(|types| named(types, "integer"))
}

pub(super) fn chat(tool: &ToolDescription<'_>) -> Result<Value, Problems> {
    let function = function(tool)?;
    // `json!` would serialise what is already a value.
    Ok(Value::Object(Map::from_iter([
        ("type".to_owned(), Value::from("function")),
        ("function".to_owned(), Value::Object(function)),
    ])))
}

pub(super) fn responses(tool: &ToolDescription<'_>) -> Result<Value, Problems> {
    let mut out = Map::from_iter([("type".to_owned(), json!("function"))]);
    out.extend(function(tool)?);
    Ok(Value::Object(out))
}

fn function(tool: &ToolDescription<'_>) -> Result<Map<String, Value>, Problems> {
    let input = tool.input_schema_without_widths(64);
    let schema = reduce(tool.name(), &input, &STRICT)?;
    let parameters = limited(tool.name(), schema)?;
    Ok(Map::from_iter([
        ("name".to_owned(), json!(tool.name())),
        ("description".to_owned(), json!(tool.description())),
        ("parameters".to_owned(), parameters),
        ("strict".to_owned(), json!(true)),
    ]))
}

/// What is limited in one schema.
fn limited(tool: &str, schema: Value) -> Result<Value, Problems> {
    let mut problems = Vec::new();
    let mut over = |what, found, limit, advice| {
        problems.push(ExportProblem::Limit {
            tool: tool.to_owned(),
            pointer: String::new(),
            what,
            found,
            limit,
            advice,
        });
    };
    let levels = Size::of(&schema).levels;
    if levels > LEVELS {
        let what = "objects and lists inside each other";
        over(what, levels, LEVELS, "make the types flatter");
    }
    each(&schema, "", &mut |keywords, _| {
        let values = keywords.get("enum").and_then(Value::as_array);
        let values = values.map(Vec::as_slice).unwrap_or_default();
        let texts = values.iter().filter_map(Value::as_str);
        let characters = texts.map(|text| text.chars().count()).sum();
        if values.len() > LONG_ENUM.0 && characters > LONG_ENUM.1 {
            let what = "characters in an enum of more than 250 values";
            over(what, characters, LONG_ENUM.1, "use shorter values");
        }
    });
    if problems.is_empty() {
        return Ok(schema);
    }
    Err(problems)
}

/// What is limited over all strict schemas of one request.
pub(super) const TOTALS: [Total; 3] = [
    ("properties", 5_000, |size| size.properties),
    (
        "characters in names, definitions and enums",
        120_000,
        |size| size.characters,
    ),
    ("values in enums", 1_000, |size| size.values),
];
