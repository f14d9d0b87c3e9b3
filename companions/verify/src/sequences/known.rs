//! The values that a call may take: of earlier calls, and of what the tools themselves show.

use serde_json::{Map, Value};

use super::call::SequenceCall;
use crate::json::walk;

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
    let last = results.iter().rposition(Option::is_some);
    let (mut sent, mut returned) = (Vec::new(), Vec::new());
    for (place, (call, result)) in earlier.iter().zip(results).enumerate() {
        let Some(result) = result else { continue };
        let is_last = Some(place) == last;
        sent.extend(of_call(call, is_last));
        let from = |at: &str| Some((place, at.to_owned()));
        returned.extend(of(result, is_last, &from).into_iter().take(MOST));
    }
    sent.append(&mut returned);
    sent
}

/// The values that a call sends.
pub(super) fn of_call(call: &SequenceCall, is_last: bool) -> Vec<Known> {
    of(&call.arguments, is_last, &|at| {
        let from = call.returned.iter().find(|one| one.argument == at)?;
        Some((from.call, from.place.clone()))
    })
}

/// Every number and text in a value; `returned` says which call returned the one in a place.
pub(super) fn of(
    value: &Value,
    is_last: bool,
    returned: &dyn Fn(&str) -> Option<(usize, String)>,
) -> Vec<Known> {
    let mut known = Vec::new();
    walk(value, "", &mut |at, part| {
        if part.is_number() || part.is_string() {
            known.push(Known {
                name: name(at).to_owned(),
                value: part.clone(),
                is_last,
                returned: returned(at),
            });
        }
    });
    known
}

/// The name of what stands in a place; a list names its items.
pub(super) fn name(at: &str) -> &str {
    let mut names = at.rsplit('/').filter(|name| name.parse::<usize>().is_err());
    names.next().unwrap_or_default()
}

/// The names of all members that a schema speaks of.
pub(super) fn names(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    walk(schema, "", &mut |_, part| {
        let properties = part.get("properties").and_then(Value::as_object);
        names.extend(properties.into_iter().flat_map(Map::keys).cloned());
    });
    names
}
