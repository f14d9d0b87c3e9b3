//! Closes the objects inside arguments, as the object of all arguments is closed: a key that nobody reads is a mistake.
//!
//! An object is left as it is where its schema speaks of other keys (`additionalProperties`, `patternProperties`), and where
//! several schemas apply to it, as for flattened enums: each of them knows only a part of the keys.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::normalize::{DEFINITIONS, has_type};
use super::vocabulary::{subschemas, subschemas_mut};

/// Keywords that say which keys an object may have besides its `properties`.
const OTHER_KEYS: [&str; 4] = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
];

/// Keywords whose schemas apply to the same value.
const SAME_VALUE: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// Keywords whose schemas decide or count, and must go on to accept what they accept.
const TESTS: [&str; 6] = ["not", "if", "then", "else", "contains", "dependentSchemas"];

/// Closes the objects of `properties` and of the definitions that they use.
pub(super) fn close(properties: &mut Map<String, Value>, definitions: &mut Map<String, Value>) {
    let mut parts = BTreeSet::new();
    for schema in properties.values() {
        find_parts(schema, false, &mut parts);
    }
    loop {
        let known = parts.len();
        for (name, schema) in &*definitions {
            let is_part = parts.contains(name);
            find_parts(schema, is_part, &mut parts);
        }
        if parts.len() == known {
            break;
        }
    }
    for schema in properties.values_mut() {
        close_one(schema, false);
    }
    for (name, schema) in definitions {
        close_one(schema, parts.contains(name));
    }
}

/// Finds the definitions that are only a part of what applies to some object.
fn find_parts(schema: &Value, is_part: bool, parts: &mut BTreeSet<String>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords {
        let is_part = inside(keyword, keywords, is_part);
        if let (true, "$ref", Value::String(target)) = (is_part, keyword.as_str(), value) {
            parts.extend(target.strip_prefix(DEFINITIONS).map(str::to_owned));
        }
        subschemas(keyword, value).for_each(|schema| find_parts(schema, is_part, parts));
    }
}

fn close_one(schema: &mut Value, is_part: bool) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let places: Vec<(String, bool)> = keywords
        .keys()
        .map(|keyword| (keyword.clone(), inside(keyword, keywords, is_part)))
        .collect();
    for (keyword, is_part) in places {
        if let Some(value) = keywords.get_mut(&keyword) {
            subschemas_mut(&keyword, value).for_each(|schema| close_one(schema, is_part));
        }
    }
    let says = |names: &[&str]| names.iter().any(|name| keywords.contains_key(*name));
    let is_whole = !(is_part || says(&OTHER_KEYS) || says(&SAME_VALUE) || says(&TESTS));
    if is_whole && says(&["properties"]) && has_type(keywords, "object") {
        keywords.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// Whether what stands under this keyword is only a part of what applies to its value.
fn inside(keyword: &str, keywords: &Map<String, Value>, is_part: bool) -> bool {
    if TESTS.contains(&keyword) {
        return true;
    }
    if !SAME_VALUE.contains(&keyword) {
        return false;
    }
    let others = keywords.iter().filter(|(other, value)| {
        let same = SAME_VALUE.contains(&other.as_str()) && *other != keyword;
        let several = *other == "allOf" && value.as_array().is_some_and(|all| all.len() > 1);
        same || several || *other == "properties" || OTHER_KEYS.contains(&other.as_str())
    });
    is_part || others.count() > 0
}
