//! Exports properties whose names a dialect refuses under other names.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::schema::Renames;
use crate::schema::arguments::clip;
use crate::schema::vocabulary::{KeywordValue, holds};

/// The longest name that a description repeats whole.
const LONGEST_NAME: usize = 100;

/// The same schema with these properties renamed; each says which name the tool's own sentences have for it.
pub(super) fn renamed(schema: &Value, renames: &Renames) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    let keyword = |(keyword, value): (&String, &Value)| {
        let new = match (holds(keyword), value) {
            (KeywordValue::Schema, schema) => renamed(schema, renames),
            (KeywordValue::List, Value::Array(list)) => {
                list.iter().map(|schema| renamed(schema, renames)).collect()
            }
            (KeywordValue::Map, Value::Object(map)) => {
                let name = |name: &str| match keyword.as_str() {
                    "properties" | "dependentSchemas" => renames.exported(name).to_owned(),
                    _ => name.to_owned(),
                };
                let described = |(old, schema): (&String, &Value)| {
                    let (new, schema) = (name(old), renamed(schema, renames));
                    if new == *old || keyword != "properties" {
                        return (new, schema);
                    }
                    (new, described(schema, old))
                };
                Value::Object(map.iter().map(described).collect())
            }
            (_, Value::Array(names)) if keyword == "required" => list(names, renames),
            (_, Value::Object(map)) if keyword == "dependentRequired" => {
                let map = map.iter().map(|(name, names)| {
                    let names = names.as_array().map(Vec::as_slice).unwrap_or_default();
                    (renames.exported(name).to_owned(), list(names, renames))
                });
                Value::Object(map.collect())
            }
            (_, Value::String(target)) if keyword == "$ref" => json!(pointer(target, renames)),
            (_, value) if matches!(keyword.as_str(), "default" | "examples" | "enum" | "const") => {
                data(value, renames)
            }
            (_, value) => value.clone(),
        };
        (keyword.clone(), new)
    };
    Value::Object(keywords.iter().map(keyword).collect())
}

fn described(schema: Value, name: &str) -> Value {
    let mut keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
        _ => Map::new(),
    };
    let own = keywords.get("description").and_then(Value::as_str);
    let note = format!("(This tool calls it `{}`.)", clip(name, LONGEST_NAME));
    let text = own.map_or_else(|| note.clone(), |own| format!("{} {note}", own.trim_end()));
    keywords.insert("description".to_owned(), json!(text));
    Value::Object(keywords)
}

fn list(names: &[Value], renames: &Renames) -> Value {
    let names = names.iter();
    names
        .map(|name| {
            name.as_str()
                .map_or_else(|| name.clone(), |name| json!(renames.exported(name)))
        })
        .collect()
}

/// A JSON pointer (RFC 6901) to the same schema.
fn pointer(target: &str, renames: &Renames) -> String {
    let mut steps: Vec<Cow<'_, str>> = Vec::new();
    for step in target.split('/') {
        let is_name = steps.last().is_some_and(|before| before == "properties");
        let name = step.replace("~1", "/").replace("~0", "~");
        let new = renames.exported(&name);
        steps.push(if is_name && new != name {
            Cow::Owned(new.to_owned())
        } else {
            Cow::Borrowed(step)
        });
    }
    steps.join("/")
}

/// A value such as the properties hold: its keys are taken for names, because it stands in no schema.
fn data(value: &Value, renames: &Renames) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| data(item, renames)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                (renames.exported(name).to_owned(), data(value, renames))
            };
            Value::Object(members.iter().map(member).collect())
        }
        scalar => scalar.clone(),
    }
}
