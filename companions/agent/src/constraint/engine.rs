//! Prepares a schema for llguidance, which compiles JSON Schema itself.

use contract_runtime::__family::portable_pattern;
#[cfg(feature = "grammar")]
use contract_runtime::__family::{KeywordValue, holds, percent_decode};
use serde_json::Value;
#[cfg(feature = "grammar")]
use serde_json::{Map, json};

/// The largest number up to which every integer is a 64-bit float, which is what llguidance calculates with.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether llguidance reads a keyword with this value as a call does.
pub(super) fn reads(keyword: &str, value: &Value) -> bool {
    match keyword {
        // It takes a name with `~` or `/` for another.
        "$ref" => value.as_str().is_some_and(|target| !target.contains('~')),
        // An annotation for a call; llguidance enforces those that it knows.
        "format" => false,
        // Regex engines differ in what is not portable.
        "pattern" => value
            .as_str()
            .and_then(portable_pattern)
            .is_some_and(|pattern| is_anchored_at_its_ends(&pattern)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "const" | "enum" => is_exact(value),
        _ => true,
    }
}

fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() <= EXACT),
        Value::Array(values) => values.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        _ => true,
    }
}

/// llguidance knows `^` and `$` only at the ends of a pattern.
fn is_anchored_at_its_ends(pattern: &str) -> bool {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let (mut escaped, mut in_class) = (false, false);
    inner.chars().all(|letter| {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '^' | '$' => return in_class,
            _ => {}
        }
        true
    })
}

/// The schema with the options of llguidance, without the keywords that it reads differently.
///
/// It then accepts every value that a call accepts, and ignores the keywords that it lacks (`lenient`).
#[cfg(feature = "grammar")]
pub(super) fn prepare(schema: &Value) -> Value {
    let mut keywords = match schema {
        Value::Object(keywords) => keywords.clone(),
        other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
    };
    remove_unread(&mut keywords);
    let options = json!({
        "lenient": true,
        "coerce_one_of": true,
        "json_allow_general_unicode_escapes": true,
        // A model cannot go on with white space for ever.
        "whitespace_pattern": r"[ \t\r\n]{1,64}",
    });
    keywords.insert("x-guidance".to_owned(), options);
    Value::Object(keywords)
}

#[cfg(feature = "grammar")]
fn remove_unread(keywords: &mut Map<String, Value>) {
    keywords.retain(|keyword, value| reads(keyword, value));
    if let Some(Value::String(target)) = keywords.get_mut("$ref")
        && let Some(decoded) = percent_decode(target)
    {
        *target = decoded;
    }
    for (keyword, value) in keywords {
        let schemas: Vec<&mut Value> = match (holds(keyword), value) {
            (KeywordValue::Schema, schema) => vec![schema],
            (KeywordValue::List, Value::Array(schemas)) => schemas.iter_mut().collect(),
            (KeywordValue::Map, Value::Object(schemas)) => schemas.values_mut().collect(),
            _ => Vec::new(),
        };
        for schema in schemas.into_iter().filter_map(Value::as_object_mut) {
            remove_unread(schema);
        }
    }
}
