//! Types with few values: tests that only Rust can evaluate are tabulated over them.

use serde_json::{Value, json};

use crate::contract::panics::guard;
use crate::schema::normalize::percent_decode;

/// More values than this are not asked about one by one.
const MOST: usize = 1_000;

/// References that follow each other without anything between them end here.
const DEPTH: usize = 16;

/// All values that `schema` admits, if it lists them; `root` holds the definitions it refers to.
///
/// There may be more here than the schema admits, where further keywords stand beside the list; never fewer.
#[must_use]
pub fn values(schema: &Value, root: &Value) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    collect(schema, root, DEPTH, &mut found)?;
    Some(found)
}

/// Returns the values of a type for which the test holds. Returns `None` if the test does not answer for each of them.
///
/// A test that panics is a violation whichever way it is asked, so neither it nor its opposite can be published.
pub fn passing(
    values: &[Value],
    expected: bool,
    holds: fn(&str) -> Option<bool>,
) -> Option<Vec<Value>> {
    let mut passing = Vec::new();
    for value in values {
        if answer(value, holds)? == expected {
            passing.push(value.clone());
        }
    }
    Some(passing)
}

/// What the test says of one value.
pub(super) fn answer(value: &Value, holds: fn(&str) -> Option<bool>) -> Option<bool> {
    let text = value.to_string();
    guard(|| holds(&text)).ok().flatten()
}

fn collect(schema: &Value, root: &Value, depth: usize, found: &mut Vec<Value>) -> Option<()> {
    let keywords = schema.as_object()?;
    let depth = depth.checked_sub(1)?;
    if let Some(only) = keywords.get("const") {
        return add(only.clone(), found);
    }
    if let Some(Value::Array(listed)) = keywords.get("enum") {
        return listed.iter().try_for_each(|one| add(one.clone(), found));
    }
    if let Some(reference) = keywords.get("$ref") {
        let pointer = percent_decode(reference.as_str()?.strip_prefix('#')?)?;
        return collect(root.pointer(&pointer)?, root, depth, found);
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = keywords.get(keyword) {
            let mut branches = branches.iter();
            return branches.try_for_each(|branch| collect(branch, root, depth, found));
        }
    }
    let types = match keywords.get("type")? {
        Value::Array(names) => names.as_slice(),
        only => std::slice::from_ref(only),
    };
    types.iter().try_for_each(|name| match name.as_str()? {
        "boolean" => {
            add(json!(true), found)?;
            add(json!(false), found)
        }
        "null" => add(Value::Null, found),
        _ => None,
    })
}

fn add(value: Value, found: &mut Vec<Value>) -> Option<()> {
    if !found.contains(&value) {
        found.push(value);
    }
    (found.len() <= MOST).then_some(())
}
