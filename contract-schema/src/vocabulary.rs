//! The keywords of JSON Schema 2020-12: what each contains and whether it restricts values.

use serde_json::{Map, Value};

/// The value of a keyword. A schema has few of them, which are compared faster than a hash is made.
pub(super) fn keyword<'v>(keywords: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    const FEW: usize = 16;
    if keywords.len() > FEW {
        return keywords.get(name);
    }
    let mut all = keywords.iter();
    all.find(|(own, _)| *own == name).map(|(_, value)| value)
}

pub(super) fn has(keywords: &Map<String, Value>, name: &str) -> bool {
    keyword(keywords, name).is_some()
}

/// What the value of a keyword is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordValue {
    /// One schema.
    Schema,
    /// An array of schemas.
    List,
    /// An object whose values are schemas.
    Map,
    /// Anything else: never looked into, because `title` inside `default` is data.
    Data,
}

/// Says what the value of `keyword` is made of.
#[must_use]
pub fn holds(keyword: &str) -> KeywordValue {
    match keyword {
        "items"
        | "additionalProperties"
        | "propertyNames"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => KeywordValue::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => KeywordValue::List,
        "properties" | "patternProperties" | "$defs" | "dependentSchemas" => KeywordValue::Map,
        _ => KeywordValue::Data,
    }
}

/// The schemas in the value of `keyword`; none if it holds data, or has not the form that it must have.
pub fn subschemas<'v>(keyword: &str, value: &'v Value) -> impl Iterator<Item = &'v Value> {
    let (one, list, map) = match (holds(keyword), value) {
        (KeywordValue::Schema, schema) => (Some(schema), None, None),
        (KeywordValue::List, Value::Array(list)) => (None, Some(list), None),
        (KeywordValue::Map, Value::Object(map)) => (None, None, Some(map)),
        _ => (None, None, None),
    };
    let several = list.into_iter().flatten();
    let several = several.chain(map.into_iter().flat_map(Map::values));
    one.into_iter().chain(several)
}

/// Like [`subschemas`], but mutable.
pub fn subschemas_mut<'v>(
    keyword: &str,
    value: &'v mut Value,
) -> impl Iterator<Item = &'v mut Value> {
    let (one, list, map) = match (holds(keyword), value) {
        (KeywordValue::Schema, schema) => (Some(schema), None, None),
        (KeywordValue::List, Value::Array(list)) => (None, Some(list), None),
        (KeywordValue::Map, Value::Object(map)) => (None, None, Some(map)),
        _ => (None, None, None),
    };
    let several = list.into_iter().flatten();
    let several = several.chain(map.into_iter().flat_map(Map::values_mut));
    one.into_iter().chain(several)
}

/// Keywords that restrict values and that nothing here enforces; the older drafts' spellings are among them.
const UNENFORCED: [&str; 9] = [
    "unevaluatedItems",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "$id",
    "definitions",
    "dependencies",
    "additionalItems",
];

/// Whether `keyword` would restrict values, or change what a reference means, without being enforced.
pub(super) fn unenforced(keyword: &str) -> bool {
    UNENFORCED.contains(&keyword)
}

/// Whether `keyword` only annotates: by the standard, or because no vocabulary knows it.
pub fn annotates(keyword: &str) -> bool {
    matches!(
        keyword,
        "$comment"
            // A name for a place; a reference by it is refused like any that is not a pointer.
            | "$anchor"
            | "$defs"
            | "title"
            | "description"
            | "default"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "examples"
            | "format"
            | "contentEncoding"
            | "contentMediaType"
            | "contentSchema"
    )
}

/// Sets `description` to a text with phrases in brackets behind it, each once and without a full stop. It stands behind `type`.
pub fn describe(keywords: &mut Map<String, Value>, text: Option<&str>, phrases: &[String]) {
    keywords.shift_remove("description");
    let text = text.filter(|text| !text.trim().is_empty());
    let mut unique: Vec<&str> = Vec::with_capacity(phrases.len());
    for phrase in phrases {
        let stopped = phrase.strip_suffix('.').filter(|rest| !rest.ends_with('.'));
        let phrase = stopped.unwrap_or(phrase);
        if !unique.contains(&phrase) {
            unique.push(phrase);
        }
    }
    let described = match (text, &*unique.join("; ")) {
        (None, "") => return,
        (None, phrases) => phrases.to_owned(),
        (Some(text), "") => text.to_owned(),
        (Some(text), phrases) => format!("{text} ({phrases})"),
    };
    let place = usize::from(keywords.contains_key("type"));
    keywords.shift_insert(place, "description".to_owned(), described.into());
}

/// The formats of JSON Schema Validation 2020-12, section 7.3 ("Defined Formats").
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Whether `format` is one that every reader of JSON Schema 2020-12 knows.
pub(super) fn standard_format(format: &str) -> bool {
    FORMATS.contains(&format)
}
