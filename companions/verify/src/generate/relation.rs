//! Generates related parameters: values near each other, where a predicate over both changes.

use serde_json::{Map, Value, json};

use super::rng::Rng;
use crate::integer;

/// Sets one member by another, or by two others.
pub(super) fn relate(input: &mut Value, rng: &mut Rng) {
    let Some(members) = input.as_object_mut() else {
        return;
    };
    let names: Vec<String> = members.keys().cloned().collect();
    let (from, to) = (rng.below(names.len()), rng.below(names.len()));
    // Mostly two of them; now and then what is within one.
    let beside = from == to && !rng.one_in(4);
    let to = if beside {
        (to + 1) % names.len().max(1)
    } else {
        to
    };
    let (Some(from), Some(to)) = (names.get(from), names.get(to)) else {
        return;
    };
    let third = rng.pick(&names).and_then(|name| members.get(name)).cloned();
    let (Some(value), Some(old)) = (members.get(from).cloned(), members.get(to).cloned()) else {
        return;
    };
    if from == to {
        within(members, to, rng);
        return;
    }
    let new = match (&value, &old) {
        (Value::Number(_), Value::Number(_)) => numbers(&value, third.as_ref(), rng),
        (Value::String(_) | Value::Array(_), Value::Number(_)) => Some(sizes(&value, rng)),
        (Value::Number(number), Value::String(_)) => number
            .as_u64()
            .filter(|count| *count <= 2_000)
            .and_then(|count| {
                let count = usize::try_from(count).ok()? + rng.below(3);
                Some(json!("a".repeat(count.saturating_sub(1))))
            }),
        (Value::Array(items), old) if !old.is_array() => rng.pick(items).cloned(),
        (value, Value::Array(items)) if !value.is_array() => {
            let mut items = items.clone();
            items.push(value.clone());
            Some(Value::Array(items))
        }
        (Value::String(one), Value::String(other)) => Some(match rng.below(4) {
            0 => json!(format!("{one}{other}")),
            1 => json!(super::text::near(one, rng.below(8))),
            _ => value.clone(),
        }),
        (one, other) if std::mem::discriminant(one) == std::mem::discriminant(other) => {
            Some(value.clone())
        }
        _ => None,
    };
    if let Some(new) = new {
        members.insert(to.clone(), new);
    }
}

/// The same for two members of one that is an object, or two items of a list.
fn within(members: &mut Map<String, Value>, name: &str, rng: &mut Rng) {
    match members.get_mut(name) {
        Some(Value::Object(inner)) if inner.len() > 1 => {
            let mut whole = Value::Object(std::mem::take(inner));
            relate(&mut whole, rng);
            if let Value::Object(related) = whole {
                *inner = related;
            }
        }
        Some(Value::Array(items)) if items.len() > 1 => {
            let copied = rng.pick(items).cloned();
            let place = rng.below(items.len());
            if let (Some(slot), Some(copied)) = (items.get_mut(place), copied) {
                *slot = copied;
            }
        }
        _ => {}
    }
}

fn numbers(value: &Value, third: Option<&Value>, rng: &mut Rng) -> Option<Value> {
    let by = [-1, 0, 0, 1];
    let by: i128 = rng.pick(&by).copied().unwrap_or(0);
    let Some(one) = integer::read(value) else {
        let one = value.as_f64()?;
        let near = match rng.below(4) {
            0 => one.next_up(),
            1 => one.next_down(),
            2 => one + third.and_then(Value::as_f64).unwrap_or(1.0),
            _ => one,
        };
        return near.is_finite().then(|| json!(near));
    };
    let other = third.and_then(integer::read).unwrap_or(0);
    let base = match rng.below(12) {
        0 => one.saturating_add(other),
        1 => one.saturating_sub(other),
        2 => one.saturating_mul(other),
        3 => one.checked_div(other).unwrap_or(one),
        _ => one,
    };
    Some(integer::write(base.saturating_add(by)))
}

/// How long something is, give or take one.
fn sizes(value: &Value, rng: &mut Rng) -> Value {
    let size = match value {
        Value::String(text) if rng.one_in(2) => text.len(),
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    json!((size + rng.below(3)).saturating_sub(1))
}
