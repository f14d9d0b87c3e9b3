//! Removes the bounds of wide integer types: models learn nothing from them, and floats round them.

use serde_json::{Map, Value};

use crate::schema::Decimal;
use crate::schema::normalize::integer_range;
use crate::schema::vocabulary::{KeywordValue, holds};

const WIDE: [&str; 4] = ["uint64", "int64", "uint128", "int128"];
const HALF: [&str; 2] = ["uint32", "int32"];

/// A copy of `input` without the ends that it has from its types of 64 bits and more, and of `f32`; where the dialect has
/// no keywords for numbers, also without those of 32 bits. What a condition has narrowed stays.
pub(super) fn quiet(input: &Value, types: &Value, has_numbers: bool) -> Value {
    let mut quiet = input.clone();
    let names = WIDE.iter().chain(HALF.iter().filter(|_| !has_numbers));
    let ends: Vec<Decimal> = names
        .filter_map(|name| integer_range(name))
        .flat_map(|(low, high)| [low, high])
        .filter_map(|end| Some(Decimal::of(end.as_number()?)))
        .filter(|end| *end != Decimal::of_float(0.0))
        .chain([-f32_end(), f32_end()].map(Decimal::of_float))
        .collect();
    silence(&mut quiet, types, &ends);
    quiet
}

/// Whether a schema as text may have an end that [`quiet`] removes where the dialect has keywords for numbers.
pub(super) fn may_have_wide_ends(schema: &str) -> bool {
    let ends = ["9223372036854775", "18446744073709551615", "e38", "e+38"];
    ends.into_iter().any(|end| schema.contains(end))
}

fn f32_end() -> f64 {
    super::super::normalize::F32_MAX
}

fn silence(schema: &mut Value, types: &Value, ends: &[Decimal]) {
    let (Value::Object(keywords), Value::Object(types)) = (schema, types) else {
        return;
    };
    for keyword in ["minimum", "maximum"] {
        if from_type(keyword, keywords, types, ends) {
            keywords.shift_remove(keyword);
        }
    }
    for (keyword, value) in keywords.iter_mut() {
        let Some(of_type) = types.get(keyword) else {
            continue;
        };
        match (holds(keyword), value, of_type) {
            (KeywordValue::Schema, schema, types) => silence(schema, types, ends),
            (KeywordValue::List, Value::Array(schemas), Value::Array(types)) => {
                for (schema, types) in schemas.iter_mut().zip(types) {
                    silence(schema, types, ends);
                }
            }
            (KeywordValue::Map, Value::Object(schemas), Value::Object(types)) => {
                for (name, schema) in schemas.iter_mut() {
                    if let Some(types) = types.get(name) {
                        silence(schema, types, ends);
                    }
                }
            }
            _ => {}
        }
    }
}

fn from_type(
    keyword: &str,
    keywords: &Map<String, Value>,
    types: &Map<String, Value>,
    ends: &[Decimal],
) -> bool {
    let number = |value: &Value| value.as_number().map(Decimal::of);
    let Some(here) = keywords.get(keyword).and_then(number) else {
        return false;
    };
    types.get(keyword).and_then(number) == Some(here) && ends.contains(&here)
}
