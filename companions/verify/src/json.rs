//! JSON values: their places, changed copies, and how they are written in Rust.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Visits a value and all that is in it, each with its JSON pointer (RFC 6901).
pub(super) fn walk<'v>(value: &'v Value, at: &str, visit: &mut dyn FnMut(&str, &'v Value)) {
    visit(at, value);
    match value {
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                walk(item, &format!("{at}/{place}"), visit);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                walk(member, &below(at, name), visit);
            }
        }
        _ => {}
    }
}

/// The object with another value for one member.
pub(super) fn with(members: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut members = members.clone();
    members.insert(name.to_owned(), value);
    Value::Object(members)
}

/// The object without one member.
pub(super) fn without(members: &Map<String, Value>, name: &str) -> Value {
    let mut members = members.clone();
    members.shift_remove(name);
    Value::Object(members)
}

/// Writes a value as the macro `json!` takes it: its texts are Rust literals, and so are its numbers. Where there is an expression for
/// a place, which is a JSON pointer, that is written.
pub(super) fn write_rust(
    value: &Value,
    instead: &dyn Fn(&str) -> Option<String>,
    out: &mut String,
) {
    write_at("", value, instead, out);
}

fn write_at(at: &str, value: &Value, instead: &dyn Fn(&str) -> Option<String>, out: &mut String) {
    if let Some(expression) = instead(at) {
        out.push_str(&expression);
        return;
    }
    match value {
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
        Value::Number(number) => {
            out.push_str(&number.to_string());
            // Without a suffix a literal is an `i32`.
            match (number.as_i64(), number.as_u64()) {
                (Some(small), _) if i32::try_from(small).is_ok() => {}
                (Some(_), _) => out.push_str("_i64"),
                (None, Some(_)) => out.push_str("_u64"),
                (None, None) => {}
            }
        }
        Value::String(text) => drop(write!(out, "{text:?}")),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                write_at(&format!("{at}/{place}"), item, instead, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                let _ = write!(out, "{name:?}: ");
                write_at(&below(at, name), member, instead, out);
            }
            out.push('}');
        }
    }
}

/// The JSON pointer of a member (RFC 6901).
pub(super) fn below(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}
