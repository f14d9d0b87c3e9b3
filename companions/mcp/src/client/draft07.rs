//! Rewrites `definitions` of draft-07 schemas to `$defs`.

use contract_runtime::__family::{KeywordValue, holds};
use serde_json::{Map, Value};

/// The prefix of a reference to a definition, before 2019-09 and since.
const THEN: &str = "#/definitions/";
const NOW: &str = "#/$defs/";

/// Renames the `definitions` of a draft-07 schema to `$defs` (JSON Schema Core 2019-09, "Changes from draft-07").
///
/// Many servers use draft-07, and for most of their schemas this is the only difference.
pub(super) fn upgrade(schema: Map<String, Value>) -> Value {
    let is_old = schema.contains_key("definitions") && !schema.contains_key("$defs");
    if !is_old {
        return Value::Object(schema);
    }
    let renamed = schema.into_iter().map(|(keyword, value)| {
        let keyword = match keyword.as_str() {
            "definitions" => "$defs".to_owned(),
            _ => keyword,
        };
        (keyword, value)
    });
    let mut schema = Value::Object(renamed.collect());
    redirect(&mut schema);
    schema
}

/// Rewrites references to definitions.
fn redirect(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        match (holds(keyword), value) {
            (KeywordValue::Schema, schema) => redirect(schema),
            (KeywordValue::List, Value::Array(schemas)) => schemas.iter_mut().for_each(redirect),
            (KeywordValue::Map, Value::Object(schemas)) => schemas.values_mut().for_each(redirect),
            (KeywordValue::Data, Value::String(pointer)) if keyword == "$ref" => {
                if let Some(name) = pointer.strip_prefix(THEN) {
                    *pointer = format!("{NOW}{name}");
                }
            }
            _ => {}
        }
    }
}
