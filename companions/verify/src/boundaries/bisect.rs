//! Bisects between an accepted and a refused input down to two neighbours.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use crate::{integer, json};

/// Doubles are bisected by their bits, which takes at most this many steps.
const HALVES: u32 = 70;

/// Between these, doubles are further apart than integers, and integers are written as they are.
const COARSE: f64 = 9_007_199_254_740_992.0;
const WIDEST: f64 = 18_446_744_073_709_551_616.0;

/// The fractions between two integers that are tried.
const FRACTIONS: [f64; 3] = [0.5, 0.125, 1e-6];

/// Returns two neighbouring inputs, of which the first is accepted and the second is not. `accepts` must be true for `accepted`
/// and false for `refused`.
pub(super) fn neighbours(
    accepted: &Value,
    refused: &Value,
    accepts: &mut dyn FnMut(&Value) -> bool,
) -> (Value, Value) {
    match (accepted, refused) {
        (Value::Number(_), Value::Number(_)) => numbers(accepted, refused, accepts),
        (Value::String(one), Value::String(other)) => {
            let (one, other): (Vec<char>, Vec<char>) =
                (one.chars().collect(), other.chars().collect());
            let text = |kept: Vec<char>| Value::from(kept.into_iter().collect::<String>());
            let (kept, lost) = crossing(&one, &other, &mut |mixed| accepts(&text(mixed)));
            (text(kept), text(lost))
        }
        (Value::Array(one), Value::Array(other)) => {
            let (kept, lost) = crossing(one, other, &mut |mixed| accepts(&Value::Array(mixed)));
            items(kept, lost, accepts)
        }
        (Value::Object(one), Value::Object(other)) => members(one, other, accepts),
        _ => (accepted.clone(), refused.clone()),
    }
}

fn numbers(
    accepted: &Value,
    refused: &Value,
    accepts: &mut dyn FnMut(&Value) -> bool,
) -> (Value, Value) {
    let (mut kept, mut lost) = (accepted.clone(), refused.clone());
    if let (Some(one), Some(other)) = (integer::read(&kept), integer::read(&lost)) {
        (kept, lost) = integers((one, other), accepts);
        // The answer may change between them.
        let (Some(from), Some(to)) = (kept.as_f64(), lost.as_f64()) else {
            return (kept, lost);
        };
        let part = FRACTIONS.map(|part| json!(from + (to - from) * part));
        match part.into_iter().find(|part| accepts(part)) {
            Some(part) => kept = part,
            None => return (kept, lost),
        }
    }
    let (Some(one), Some(other)) = (kept.as_f64(), lost.as_f64()) else {
        return (kept, lost);
    };
    let (mut one, mut other) = (place(one), place(other));
    for _ in 0..HALVES {
        if one.abs_diff(other) <= 1 {
            break;
        }
        let middle = i64::midpoint(one, other);
        let value = json!(double(middle));
        if accepts(&value) {
            (one, kept) = (middle, value);
        } else {
            (other, lost) = (middle, value);
        }
    }
    match (coarse(&kept), coarse(&lost)) {
        (Some(one), Some(other)) => integers((one, other), accepts),
        _ => (kept, lost),
    }
}

fn integers(
    (mut one, mut other): (i128, i128),
    accepts: &mut dyn FnMut(&Value) -> bool,
) -> (Value, Value) {
    while one.abs_diff(other) > 1 {
        let middle = i128::midpoint(one, other);
        if accepts(&integer::write(middle)) {
            one = middle;
        } else {
            other = middle;
        }
    }
    (integer::write(one), integer::write(other))
}

/// A double that is more than 1 away from the next one, as an integer.
fn coarse(value: &Value) -> Option<i128> {
    let value = value.as_f64()?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "it is an integer of 64 bits"
    )]
    let integer = value as i128;
    (COARSE..=WIDEST).contains(&value.abs()).then_some(integer)
}

/// The doubles in their order, as integers: the bits of a negative one run downwards (IEEE 754, section 5.10).
fn place(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    if bits < 0 { i64::MIN - bits } else { bits }
}

fn double(place: i64) -> f64 {
    let bits = if place < 0 { i64::MIN - place } else { place };
    f64::from_bits(bits.cast_unsigned())
}

/// The way from one list to another, of which more and more takes the place of the first: where the answer changes on it.
fn crossing<T: Clone>(
    accepted: &[T],
    refused: &[T],
    accepts: &mut dyn FnMut(Vec<T>) -> bool,
) -> (Vec<T>, Vec<T>) {
    let mixed = |taken: usize| -> Vec<T> {
        let (new, old) = (refused.iter().take(taken), accepted.iter().skip(taken));
        new.chain(old).cloned().collect()
    };
    let (mut low, mut high) = (0, accepted.len().max(refused.len()));
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if accepts(mixed(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (mixed(low), mixed(high))
}

fn items(
    mut kept: Vec<Value>,
    mut lost: Vec<Value>,
    accepts: &mut dyn FnMut(&Value) -> bool,
) -> (Value, Value) {
    let mut pairs = kept.iter().zip(&lost).enumerate();
    let differing = pairs.find(|(_, (one, other))| one != other);
    if let Some((at, (one, other))) = differing.filter(|_| kept.len() == lost.len()) {
        let (one, other) = neighbours(one, other, &mut |item| {
            accepts(&Value::Array(with(&kept, at, item)))
        });
        (kept, lost) = (with(&kept, at, &one), with(&lost, at, &other));
    }
    (Value::Array(kept), Value::Array(lost))
}

/// The list with another item at this place.
fn with(items: &[Value], at: usize, item: &Value) -> Vec<Value> {
    let mut items = items.to_vec();
    if let Some(slot) = items.get_mut(at) {
        slot.clone_from(item);
    }
    items
}

/// One member after the other takes the place of the first.
fn members(
    accepted: &Map<String, Value>,
    refused: &Map<String, Value>,
    accepts: &mut dyn FnMut(&Value) -> bool,
) -> (Value, Value) {
    let mut names: Vec<&String> = accepted.keys().chain(refused.keys()).collect();
    names.sort();
    names.dedup();
    let mut kept = accepted.clone();
    for name in names {
        let mut lost = kept.clone();
        match refused.get(name) {
            Some(value) => drop(lost.insert(name.clone(), value.clone())),
            None => drop(lost.shift_remove(name)),
        }
        if lost == kept || accepts(&Value::Object(lost.clone())) {
            kept = lost;
            continue;
        }
        if let (Some(one), Some(other)) = (kept.get(name), lost.get(name)) {
            let within = neighbours(one, other, &mut |member| {
                accepts(&json::with(&kept, name, member.clone()))
            });
            let (one, other) = within;
            kept.insert(name.clone(), one);
            lost.insert(name.clone(), other);
        }
        return (Value::Object(kept), Value::Object(lost));
    }
    (
        Value::Object(accepted.clone()),
        Value::Object(refused.clone()),
    )
}

/// Compares by kind, then numbers by their value, and all else by its length before what is in it.
pub(super) fn order(one: &Value, other: &Value) -> Ordering {
    let exact = || Some(integer::read(one)?.cmp(&integer::read(other)?));
    let nearly = || one.as_f64()?.partial_cmp(&other.as_f64()?);
    let within =
        |(one, other): (&Value, &Value)| Some(order(one, other)).filter(|order| order.is_ne());
    measure(one)
        .cmp(&measure(other))
        .then_with(|| match (one, other) {
            (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
            (Value::String(one), Value::String(other)) => one.cmp(other),
            (Value::Array(one), Value::Array(other)) => one
                .iter()
                .zip(other)
                .find_map(within)
                .unwrap_or(Ordering::Equal),
            (Value::Object(one), Value::Object(other)) => {
                let mut members = one.values().zip(other.values());
                members.find_map(within).unwrap_or(Ordering::Equal)
            }
            _ => exact().or_else(nearly).unwrap_or(Ordering::Equal),
        })
}

/// The place of the kind of a value among the others, and its length.
fn measure(value: &Value) -> (u8, usize) {
    match value {
        Value::Null => (0, 0),
        Value::Bool(_) => (1, 0),
        Value::Number(_) => (2, 0),
        Value::String(text) => (3, text.chars().count()),
        Value::Array(items) => (4, items.len()),
        Value::Object(members) => (5, members.len()),
    }
}
