use serde_json::{Map, Value};

use crate::schema::{Holds, holds};

/// How a reference to a definition begins, before 2019-09 and since.
const THEN: &str = "#/definitions/";
const NOW: &str = "#/$defs/";

/// A schema whose `definitions`, as draft-07 has them, are `$defs` (JSON Schema Core 2019-09, "Changes from draft-07").
///
/// Many servers write draft-07, and this is the one difference that most of their schemas have.
pub(super) fn current(schema: Map<String, Value>) -> Value {
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

/// Lets references lead to where the definitions are now.
fn redirect(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        match (holds(keyword), value) {
            (Holds::Schema, schema) => redirect(schema),
            (Holds::List, Value::Array(schemas)) => schemas.iter_mut().for_each(redirect),
            (Holds::Map, Value::Object(schemas)) => schemas.values_mut().for_each(redirect),
            (Holds::Data, Value::String(pointer)) if keyword == "$ref" => {
                if let Some(name) = pointer.strip_prefix(THEN) {
                    *pointer = format!("{NOW}{name}");
                }
            }
            _ => {}
        }
    }
}
