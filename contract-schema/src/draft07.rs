//! Reads schemas of draft-07 as JSON Schema 2020-12: for most of them only names of keywords differ.
//!
//! Source: JSON Schema Core 2019-09 and 2020-12, "Changes from draft-07" and "Changes from 2019-09".

use serde_json::{Map, Value, json};

use super::normalize::DEFINITIONS;
use super::vocabulary::{has, keyword, subschemas_mut};

/// The prefix of a reference to a definition, before 2019-09.
const THEN: &str = "#/definitions/";

/// Renames `definitions`, `dependencies` and the `items` of tuples, and drops the `$id` of the root, which only names it.
pub(super) fn upgrade(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let id = has(keywords, "$id").then(|| keywords.shift_remove("$id"));
    let own = match id.flatten() {
        Some(Value::String(own)) => own.trim_end_matches('#').to_owned(),
        _ => String::new(),
    };
    let has_old = has(keywords, "definitions") && !has(keywords, "$defs");
    if has_old {
        rename(keywords, "definitions", "$defs");
    }
    one(schema, &own, has_old);
}

fn one(schema: &mut Value, own: &str, has_old: bool) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keyword(keywords, "items").is_some_and(Value::is_array) {
        rename(keywords, "items", "prefixItems");
        rename(keywords, "additionalItems", "items");
    }
    dependencies(keywords);
    if has(keywords, "$ref")
        && let Some(Value::String(target)) = keywords.get_mut("$ref")
    {
        // By the name of the whole, a reference to a part of it.
        let part = target.strip_prefix(own).filter(|_| !own.is_empty());
        if let Some(part) = part.filter(|part| part.is_empty() || part.starts_with('#')) {
            *target = format!("#{}", part.trim_start_matches('#'));
        }
        if let Some(name) = target.strip_prefix(THEN).filter(|_| has_old) {
            *target = format!("{DEFINITIONS}{name}");
        }
    }
    for (keyword, value) in keywords.iter_mut() {
        subschemas_mut(keyword, value).for_each(|schema| one(schema, own, has_old));
    }
}

/// `dependencies` became two keywords: one for names and one for schemas.
fn dependencies(keywords: &mut Map<String, Value>) {
    let taken = ["dependentRequired", "dependentSchemas"];
    let Some(Value::Object(all)) = keyword(keywords, "dependencies") else {
        return;
    };
    if taken.iter().any(|taken| has(keywords, taken)) {
        return;
    }
    let (names, schemas): (Map<_, _>, Map<_, _>) = all
        .clone()
        .into_iter()
        .partition(|(_, needed)| needed.is_array());
    keywords.shift_remove("dependencies");
    for (keyword, part) in taken.into_iter().zip([names, schemas]) {
        if !part.is_empty() {
            keywords.insert(keyword.to_owned(), json!(part));
        }
    }
}

/// Renames a keyword where it stands: the order of the keywords is the order in which a model reads them.
fn rename(keywords: &mut Map<String, Value>, from: &str, to: &str) {
    if !keywords.contains_key(from) || keywords.contains_key(to) {
        return;
    }
    let renamed = std::mem::take(keywords).into_iter();
    *keywords = renamed
        .map(|(keyword, value)| {
            let keyword = if keyword == from {
                to.to_owned()
            } else {
                keyword
            };
            (keyword, value)
        })
        .collect();
}
