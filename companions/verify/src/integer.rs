//! Integers in JSON wider than 64 bits, and how readers that use doubles see them.

use serde_json::{Number, Value, json};

use super::json::walk;

/// The value, if it is written as an integer.
pub(super) fn read(value: &Value) -> Option<i128> {
    value.as_number()?.as_i128()
}

/// Converts to JSON: a value that fits neither 64-bit type becomes the nearest double.
pub(super) fn write(value: i128) -> Value {
    #[allow(clippy::cast_precision_loss, reason = "there is nothing nearer")]
    let nearest = value as f64;
    i64::try_from(value)
        .map(Value::from)
        .or_else(|_| u64::try_from(value).map(Value::from))
        .unwrap_or_else(|_| json!(nearest))
}

/// Whether a number anywhere in it passes the test.
pub(super) fn any_number(value: &Value, test: impl Fn(&Number) -> bool) -> bool {
    let mut is_any = false;
    walk(value, "", &mut |_, part| {
        is_any |= part.as_number().is_some_and(&test);
    });
    is_any
}

/// The value as a reader sees it that treats every number as a double.
pub(super) fn doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(doubles).collect(),
        Value::Object(members) => {
            let double = |(name, value): (&String, &Value)| (name.clone(), doubles(value));
            members.iter().map(double).collect()
        }
        other => other.clone(),
    }
}
