//! Corrects schemas from schemars: ranges from the types, no keywords of only one library.

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value, json};

use super::vocabulary::{has, keyword, standard_format, subschemas, subschemas_mut};

/// The largest `f32` by its shortest decimal, 3.4028235e38: what reads as it must be admitted, and what
/// is larger reads as infinity or as another number.
pub const F32_MAX: f64 = 3.402_823_5e38;

/// The prefix of every reference to a definition.
pub(super) const DEFINITIONS: &str = "#/$defs/";

/// Corrects one schema and everything in it.
pub(super) fn correct(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for name in ["$schema", "title"] {
        if has(keywords, name) {
            keywords.shift_remove(name);
        }
    }
    correct_format(keywords);
    close_result(keywords);
    for (keyword, value) in keywords.iter_mut() {
        subschemas_mut(keyword, value).for_each(correct);
    }
}

/// A `Result` is read with nothing beside its `Ok` or `Err`, which schemars does not say.
fn close_result(keywords: &mut Map<String, Value>) {
    if !has(keywords, "oneOf") {
        return;
    }
    let Some(Value::Array(branches)) = keywords.get_mut("oneOf") else {
        return;
    };
    let [ok, err] = branches.as_mut_slice() else {
        return;
    };
    if only_member(ok) != Some("Ok") || only_member(err) != Some("Err") {
        return;
    }
    for branch in [ok, err] {
        if let Some(branch) = branch.as_object_mut() {
            branch.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
    }
}

/// The name of the one property that an object has, and must have, when that is all that is said of it.
fn only_member(schema: &Value) -> Option<&str> {
    let keywords = schema.as_object()?;
    let plain = ["type", "properties", "required"];
    let [required] = keywords.get("required")?.as_array()?.as_slice() else {
        return None;
    };
    let name = required.as_str()?;
    let properties = keywords.get("properties")?.as_object()?;
    let only = properties.len() == 1 && properties.contains_key(name);
    let said = keywords
        .keys()
        .all(|keyword| plain.contains(&keyword.as_str()));
    (only && said && has_type(keywords, "object")).then_some(name)
}

fn correct_format(keywords: &mut Map<String, Value>) {
    // Of `rust_decimal` and `bigdecimal` alike; the first reads neither every exponent nor every number.
    if keyword(keywords, "pattern").is_some_and(|one| one == r"^-?\d+(\.\d+)?([eE]\d+)?$") {
        keywords.insert("pattern".to_owned(), json!(r"^-?\d+(\.\d+)?$"));
        keywords.insert("format".to_owned(), json!("decimal"));
    }
    let Some(Value::String(format)) = keyword(keywords, "format") else {
        return;
    };
    if standard_format(format) {
        return;
    }
    let range = if has_type(keywords, "integer") {
        integer_range(format)
    } else if has_type(keywords, "number") && format == "float" {
        Some((json!(-F32_MAX), json!(F32_MAX)))
    } else if has_type(keywords, "number") && format == "decimal" {
        Some((json!(-7.9e28), json!(7.9e28)))
    } else {
        None
    };
    // Of `chrono` and `jiff`.
    if format == "partial-time" {
        let time = r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?$";
        keywords.insert("pattern".to_owned(), json!(time));
    }
    keywords.shift_remove("format");
    let Some((low, high)) = range else { return };
    bound(
        keywords,
        "minimum",
        "exclusiveMinimum",
        low,
        |own, of_type| own >= of_type,
    );
    bound(
        keywords,
        "maximum",
        "exclusiveMaximum",
        high,
        |own, of_type| own <= of_type,
    );
}

/// Sets the bound of the type, unless the author has set a tighter one.
fn bound(
    keywords: &mut Map<String, Value>,
    inclusive: &str,
    exclusive: &str,
    of_type: Value,
    tighter: impl Fn(super::Decimal, super::Decimal) -> bool,
) {
    let exact = |value: &Value| value.as_number().map(super::Decimal::of);
    let Some(limit) = exact(&of_type) else { return };
    let kept = [inclusive, exclusive]
        .into_iter()
        .filter_map(|keyword| keywords.get(keyword).and_then(exact))
        .any(|own| tighter(own, limit));
    if !kept {
        keywords.insert(inclusive.to_owned(), of_type);
    }
}

/// The values of a Rust integer type, by the word schemars uses for it.
///
/// A JSON number here holds 64 bits exactly. The far ends of the 128-bit types are rounded outwards,
/// so that every value of the type is admitted; the type itself refuses what lies beyond.
pub fn integer_range(format: &str) -> Option<(Value, Value)> {
    Some(match format {
        "uint8" => (json!(0), json!(u8::MAX)),
        "uint16" => (json!(0), json!(u16::MAX)),
        "uint32" => (json!(0), json!(u32::MAX)),
        // The width of `usize` is the machine's; a schema must not differ between machines.
        "uint64" | "uint" => (json!(0), json!(u64::MAX)),
        "uint128" => (json!(0), float(3.402_823_669_209_385e38)),
        "int8" => (json!(i8::MIN), json!(i8::MAX)),
        "int16" => (json!(i16::MIN), json!(i16::MAX)),
        "int32" => (json!(i32::MIN), json!(i32::MAX)),
        "int64" | "int" => (json!(i64::MIN), json!(i64::MAX)),
        "int128" => (
            float(-1.701_411_834_604_692_7e38),
            float(1.701_411_834_604_692_7e38),
        ),
        _ => return None,
    })
}

fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// Whether `type` is, or contains, `name`.
pub(super) fn has_type(keywords: &Map<String, Value>, name: &str) -> bool {
    match keyword(keywords, "type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// The definitions that `schemas` use, directly or through each other, corrected and sorted by name.
pub(super) fn used<'a>(
    schemas: impl Iterator<Item = &'a Value>,
    mut definitions: Map<String, Value>,
) -> Map<String, Value> {
    let mut waiting = Vec::new();
    schemas.for_each(|schema| references(schema, &mut waiting));
    let mut names = BTreeSet::new();
    while let Some(target) = waiting.pop() {
        let Some(name) = definition_name(&target) else {
            continue;
        };
        if let Some(definition) = definitions.get(&name)
            && names.insert(name)
        {
            references(definition, &mut waiting);
        }
    }
    names
        .into_iter()
        .filter_map(|name| {
            let mut definition = definitions.shift_remove(&name)?;
            correct(&mut definition);
            Some((name, definition))
        })
        .collect()
}

fn references(schema: &Value, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if let Some(Value::String(target)) = keywords.get("$ref") {
        found.push(target.clone());
    }
    for (keyword, value) in keywords {
        subschemas(keyword, value).for_each(|schema| references(schema, found));
    }
}

pub fn definition_name(target: &str) -> Option<String> {
    let path = target.strip_prefix(DEFINITIONS)?;
    let first = path.split('/').next()?;
    Some(unescape(&percent_decode(first)?))
}

/// One step of a JSON pointer as the key it names (RFC 6901, section 4).
pub(super) fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Decodes the text of a URI fragment (RFC 3986, section 2.1); `None` when it is not valid.
#[must_use]
pub fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// An output schema with the same corrections as an input schema, complete in itself.
#[must_use]
pub fn correct_output(schema: Value, definitions: Map<String, Value>) -> Value {
    let mut schema = opened(schema, &definitions);
    let definitions = used(std::iter::once(&schema), definitions);
    correct(&mut schema);
    if let (Value::Object(keywords), false) = (&mut schema, definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

/// A schema whose root is not a mere reference: readers look for `type` there.
fn opened(mut schema: Value, definitions: &Map<String, Value>) -> Value {
    // A definition that refers to itself alone would never end.
    for _ in 0..=definitions.len() {
        let Some(target) = schema.get("$ref").and_then(Value::as_str) else {
            break;
        };
        let definition = definition_name(target).and_then(|name| definitions.get(&name));
        let (Some(Value::Object(definition)), Value::Object(own)) = (definition, &schema) else {
            break;
        };
        let mut keywords = definition.clone();
        let beside = own.iter().filter(|(keyword, _)| *keyword != "$ref");
        keywords.extend(beside.map(|(keyword, value)| (keyword.clone(), value.clone())));
        schema = Value::Object(keywords);
    }
    schema
}
