//! The digest by which the first suite compares databases: SHA-256 of the data as Python prints nested tuples.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Returns the digest of a database, in hexadecimal.
///
/// ```
/// let data = serde_json::json!({"b": [1, "it's"], "a": null});
/// assert!(airline::digest::of(&data).starts_with("319e1c31"));
/// ```
#[must_use]
pub fn of(data: &Value) -> String {
    let mut text = String::new();
    tuples(data, &mut text);
    Sha256::digest(text)
        .iter()
        .fold(String::new(), |hexadecimal, byte| {
            format!("{hexadecimal}{byte:02x}")
        })
}

fn tuples(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("None"),
        Value::Bool(true) => text.push_str("True"),
        Value::Bool(false) => text.push_str("False"),
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::String(string) => quoted(string, text),
        Value::Array(items) => tuple(items, tuples, text),
        Value::Object(object) => {
            let mut entries: Vec<(&String, &Value)> = object.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            tuple(
                &entries,
                |(key, value), text| {
                    text.push('(');
                    quoted(key, text);
                    text.push_str(", ");
                    tuples(value, text);
                    text.push(')');
                },
                text,
            );
        }
    }
}

/// A tuple of one has a comma.
fn tuple<T>(items: &[T], print: impl Fn(&T, &mut String), text: &mut String) {
    text.push('(');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            text.push_str(", ");
        }
        print(item, text);
    }
    text.push_str(if items.len() == 1 { ",)" } else { ")" });
}

fn quoted(string: &str, text: &mut String) {
    let quote = if string.contains('\'') && !string.contains('"') {
        '"'
    } else {
        '\''
    };
    text.push(quote);
    for character in string.chars() {
        if character == quote || character == '\\' {
            text.push('\\');
        }
        text.push(character);
    }
    text.push(quote);
}
