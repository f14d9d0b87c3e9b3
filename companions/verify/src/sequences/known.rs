//! The values that a call may take: of earlier calls, and of what the tools themselves show.

use serde_json::{Map, Value};

use super::call::{Returned, SequenceCall};
use crate::subject::below;

/// The most values of one result that later calls may take.
const MOST: usize = 40;

/// A value that an earlier call sent or returned, or that a tool takes.
pub(super) struct Known {
    /// The name of the argument or of the member; empty for a whole result.
    pub(super) name: String,
    pub(super) value: Value,
    /// It is of the last call that succeeded.
    pub(super) is_last: bool,
    /// The call that returned it, and where.
    pub(super) returned: Option<(usize, String)>,
}

/// `id` of a result may be `order_id` of an argument; a result that is a value has no name.
pub(super) fn is_related(one: &str, other: &str) -> bool {
    // A list is named for all of its items.
    let (one, other) = (one.trim_end_matches('s'), other.trim_end_matches('s'));
    one.is_empty() || one.ends_with(other) || other.ends_with(one)
}

/// The values of calls that succeeded: others have left nothing behind that is worth meeting.
pub(super) fn of_calls(earlier: &[SequenceCall], results: &[Option<Value>]) -> Vec<Known> {
    let mut known = Vec::new();
    let last = results.iter().rposition(Option::is_some);
    let succeeded = earlier.iter().zip(results).enumerate();
    for (place, (call, _)) in succeeded.filter(|(_, (_, result))| result.is_some()) {
        let is_last = Some(place) == last;
        known.extend(of_call(call).map(|one| Known { is_last, ..one }));
    }
    for (place, result) in results.iter().enumerate() {
        let members = collected(result.as_ref().unwrap_or(&Value::Null));
        known.extend(
            members
                .into_iter()
                .take(MOST)
                .map(|(name, at, value)| Known {
                    name,
                    value,
                    is_last: Some(place) == last,
                    returned: Some((place, at)),
                }),
        );
    }
    known
}

/// The values that a call sends.
pub(super) fn of_call(call: &SequenceCall) -> impl Iterator<Item = Known> {
    collected(&call.arguments)
        .into_iter()
        .map(|(name, at, value)| {
            let from = call.returned.iter().find(|one| one.argument == at);
            Known {
                name,
                value,
                is_last: false,
                returned: from.map(|Returned { call, place, .. }| (*call, place.clone())),
            }
        })
}

/// The values of arguments that a tool takes.
pub(super) fn of_arguments(arguments: &Value) -> impl Iterator<Item = Known> {
    collected(arguments)
        .into_iter()
        .map(|(name, _, value)| Known {
            name,
            value,
            is_last: false,
            returned: None,
        })
}

/// Every number and text, with its name and its place.
fn collected(value: &Value) -> Vec<(String, String, Value)> {
    fn walk(value: &Value, name: &str, at: &str, found: &mut Vec<(String, String, Value)>) {
        match value {
            Value::Number(_) | Value::String(_) => {
                found.push((name.to_owned(), at.to_owned(), value.clone()));
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    walk(item, name, &format!("{at}/{place}"), found);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    walk(member, name, &below(at, name), found);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
    let mut found = Vec::new();
    walk(value, "", "", &mut found);
    found
}

/// The names of all members that a schema speaks of.
pub(super) fn names(schema: &Value) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(keywords) => {
                let properties = keywords.get("properties").and_then(Value::as_object);
                found.extend(properties.into_iter().flat_map(Map::keys).cloned());
                keywords.values().for_each(|inner| walk(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(schema, &mut found);
    found
}
