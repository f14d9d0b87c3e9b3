//! Corrects schemas. Those of draft-07 become JSON Schema 2020-12, for which most differ only in names of keywords (JSON Schema Core
//! 2019-09 and 2020-12, "Changes from draft-07" and "Changes from 2019-09"). Those from schemars get ranges from the types, and lose
//! the keywords of only one library. Objects inside arguments are closed, as the object of all arguments is.

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

/// The keywords of a schema; those of `false` accept nothing either.
#[must_use]
pub fn keywords(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(keywords) => keywords,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
        _ => Map::new(),
    }
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
    schemas.for_each(|schema| references(schema, &mut |target| waiting.push(target.to_owned())));
    let mut names = BTreeSet::new();
    while let Some(target) = waiting.pop() {
        let Some(name) = definition_name(&target) else {
            continue;
        };
        if let Some(definition) = definitions.get(&name)
            && names.insert(name)
        {
            references(definition, &mut |target| waiting.push(target.to_owned()));
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

/// Tells `found` the target of each reference.
pub fn references(schema: &Value, found: &mut dyn FnMut(&str)) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if let Some(Value::String(target)) = keywords.get("$ref") {
        found(target);
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
#[must_use]
pub fn unescape(step: &str) -> String {
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

/// Closes the objects of `properties` and of the definitions that they use: a key that no field reads is a mistake.
///
/// An object is left as it is where its schema speaks of other keys (`additionalProperties`, `patternProperties`), and where
/// several schemas apply to it, as for flattened enums: each of them knows only a part of the keys.
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
    upgrade_one(schema, &own, has_old);
}

fn upgrade_one(schema: &mut Value, own: &str, has_old: bool) {
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
        subschemas_mut(keyword, value).for_each(|schema| upgrade_one(schema, own, has_old));
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
