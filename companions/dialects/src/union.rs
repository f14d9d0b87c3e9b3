//! Unions of finished schemas.

use contract_schema::vocabulary::describe;
use serde_json::{Map, Value, json};

use crate::merge::names;
use crate::prose;
use crate::walk::Walk;

type Keywords = Map<String, Value>;

impl Walk<'_> {
    /// Any of several finished schemas, with what is said of all of them.
    pub(super) fn any_of(&mut self, branches: Vec<Value>, annotations: &Keywords) -> Value {
        let unique = flat(branches);
        let mut out = Keywords::new();
        let mut own = annotations
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let (kept, mut dropped): (Keywords, Keywords) = annotations
            .iter()
            .map(|(keyword, value)| (keyword.clone(), value.clone()))
            .partition(|(keyword, value)| self.has(keyword, value));
        dropped.shift_remove("description");
        let mut phrases = prose::phrases(&dropped);
        match (listed(&unique), unique.as_slice()) {
            (Some((only, said)), _) => {
                phrases.splice(0..0, said);
                out.extend(only);
            }
            (None, [Value::Object(only)]) if !only.contains_key("$ref") => {
                let mut only = only.clone();
                if let Some(Value::String(text)) = only.shift_remove("description") {
                    own = Some(own.map_or(text.clone(), |own| format!("{own}\n{text}")));
                }
                out.extend(only);
            }
            _ => {
                out.insert("anyOf".to_owned(), Value::Array(unique));
            }
        }
        out.extend(
            kept.into_iter()
                .filter(|(keyword, _)| keyword != "description"),
        );
        describe(&mut out, own.as_deref(), &phrases);
        (self.subset.finish)(&mut out);
        Value::Object(out)
    }
}

/// Each branch once; a choice inside a choice is one choice.
fn flat(branches: Vec<Value>) -> Vec<Value> {
    let mut unique: Vec<Value> = Vec::with_capacity(branches.len());
    for branch in branches {
        let inner = match &branch {
            Value::Object(keywords) if keywords.len() == 1 => keywords.get("anyOf"),
            _ => None,
        };
        let inner = match inner {
            Some(Value::Array(inner)) => inner.clone(),
            _ => vec![branch],
        };
        for branch in inner {
            if !unique.contains(&branch) {
                unique.push(branch);
            }
        }
    }
    unique
}

/// Branches that only list values of one type, as one list and what is said of each value.
fn listed(branches: &[Value]) -> Option<(Keywords, Vec<String>)> {
    let kind = branches
        .first()?
        .get("type")
        .filter(|kind| kind.is_string())?;
    if branches.len() < 2 {
        return None;
    }
    let (mut values, mut words) = (Vec::new(), Vec::new());
    for branch in branches {
        let keywords = branch.as_object()?;
        let own = |keyword: &String| matches!(keyword.as_str(), "type" | "enum" | "description");
        if keywords.get("type") != Some(kind) || !keywords.keys().all(own) {
            return None;
        }
        let here = keywords.get("enum")?.as_array()?;
        if let Some(text) = keywords.get("description").and_then(Value::as_str) {
            let these: Vec<_> = here.iter().map(Value::to_string).collect();
            words.push(format!("{}: {text}", these.join(", ")));
        }
        for value in here {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    let list = Keywords::from_iter([
        ("type".to_owned(), kind.clone()),
        ("enum".to_owned(), Value::Array(values)),
    ]);
    Some((list, words))
}

/// Admits null as well.
pub(super) fn nullable(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords.contains_key("$ref") {
        *schema = json!({"anyOf": [schema.take(), {"type": "null"}]});
        return;
    }
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
        if !branches.iter().any(admits_null) {
            branches.push(json!({"type": "null"}));
        }
        return;
    }
    let Some(types) = keywords.get("type") else {
        return;
    };
    let mut types: Vec<Value> = names(types).into_iter().map(Value::from).collect();
    if !types.contains(&json!("null")) {
        types.push(json!("null"));
        keywords.insert("type".to_owned(), Value::Array(types));
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

fn admits_null(schema: &Value) -> bool {
    let null = schema
        .get("type")
        .is_some_and(|types| names(types).contains(&"null"));
    let values = schema.get("enum").and_then(Value::as_array);
    null && values.is_none_or(|values| values.contains(&Value::Null))
}
