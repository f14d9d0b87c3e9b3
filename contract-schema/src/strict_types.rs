//! Types that serde decodes exactly as their schema says.

use serde_json::{Map, Value};

use super::decimal::Decimal;
use super::normalize::integer_range;
use super::vocabulary::annotates;

/// Whether everything that typed decoding accepts is admitted by `schema`, as schemars wrote it.
///
/// True only for numbers, booleans, strings and null without further keywords, and arrays of these:
/// - a map or a `Value` keeps the last of two equal keys, an open struct ignores unknown ones;
/// - `f32` turns `1e300` into infinity;
/// - serde knows none of the attributes of schemars;
/// - a unit variant is also read from `{"Variant":null}`, and from its `#[serde(alias)]`.
pub(super) fn decodes_exactly(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let Some(names) = types(keywords) else {
        return false;
    };
    let rest = || {
        keywords.iter().filter(|(keyword, _)| {
            *keyword != "type" && (*keyword == "format" || !annotates(keyword))
        })
    };
    match names.as_slice() {
        ["boolean" | "string" | "null"] => rest().next().is_none(),
        ["number"] => rest().all(|(keyword, value)| keyword == "format" && value == "double"),
        ["integer"] => exact_integer(keywords, rest().count()),
        ["array"] => {
            rest().all(|(keyword, _)| keyword == "items")
                && keywords.get("items").is_some_and(decodes_exactly)
        }
        _ => false,
    }
}

/// The type names without `null`, unless it is the only one.
fn types(keywords: &Map<String, Value>) -> Option<Vec<&str>> {
    match keywords.get("type")? {
        Value::String(only) => Some(vec![only]),
        Value::Array(several) => {
            let names: Option<Vec<_>> = several.iter().map(Value::as_str).collect();
            names.map(|names| names.into_iter().filter(|name| *name != "null").collect())
        }
        _ => None,
    }
}

fn exact_integer(keywords: &Map<String, Value>, mut others: usize) -> bool {
    let Some((low, high)) = keywords
        .get("format")
        .and_then(Value::as_str)
        .and_then(integer_range)
    else {
        return false;
    };
    others -= 1;
    let exact = |value: &Value| value.as_number().map(Decimal::of);
    for (keyword, limit) in [("minimum", low), ("maximum", high)] {
        match keywords.get(keyword) {
            Some(own) if exact(own) == exact(&limit) => others -= 1,
            Some(_) => return false,
            None => {}
        }
    }
    others == 0
}
