//! Converts a schema for `parameters`, the message `Schema`.

use contract_schema::reader::join;
use serde_json::{Map, Value, json};

use super::{list, number};
use crate::merge::{named, names};
use crate::problem::{ExportProblem, Problems};
use crate::walk::{References, Subset};

type Keywords = Map<String, Value>;

pub(super) const SUBSET: Subset = Subset {
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
    number::inclusive(node, said);
    if let (Some(true), Some(Value::Array(values))) =
        (node.get("type").map(is_number), node.get("enum"))
    {
        let values = values.clone();
        number::between(node, &values);
    }
    number::doubles(node, said);
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
pub(super) fn complete(tool: &str, schema: &mut Value, problems: &mut Problems) {
    look(tool, schema, "", problems);
}

fn look(tool: &str, schema: &mut Value, at: &str, problems: &mut Problems) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let mut problem = |what: &str, advice| {
        problems.push(ExportProblem::Inexpressible {
            tool: tool.to_owned(),
            pointer: at.to_owned(),
            what: what.to_owned(),
            advice,
        });
    };
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
                    look(tool, below, &join(&at, name), problems);
                }
            }
            ("items", below) => look(tool, below, &at, problems),
            ("anyOf", Value::Array(branches)) => {
                for (index, below) in branches.iter_mut().enumerate() {
                    look(tool, below, &format!("{at}/{index}"), problems);
                }
            }
            _ => {}
        }
    }
}
