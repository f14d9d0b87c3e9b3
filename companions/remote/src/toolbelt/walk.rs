//! Walks untrusted JSON without recursion, since its depth is unbounded.

use serde_json::Value;

/// Returns the nesting depth of a value; a scalar has depth 1.
pub(crate) fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut left = vec![(value, 1)];
    while let Some((value, depth)) = left.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                left.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    deepest
}

/// Returns about the size of a value as text, in bytes.
pub(super) fn size(value: &Value) -> usize {
    let mut size = 0;
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        size += 4;
        match value {
            Value::String(text) => size += text.len(),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                size += members.keys().map(String::len).sum::<usize>();
                left.extend(members.values());
            }
            _ => {}
        }
    }
    size
}
