//! Shrinks an input while a property still holds.
//!
//! Inputs are shrunk as JSON and not as they were generated: a number is bisected down to the one at which the answer changes,
//! whatever bound it was generated for, and inputs read from a file are shrunk, too.

use serde_json::{Map, Value, json};

use super::integer;
use super::json::{with, without};

/// The most candidates that are tried for one input.
const QUESTIONS: usize = 3_000;

/// An input of this many bytes counts for one candidate more, because each takes longer.
const LARGE: usize = 2_000;

/// Returns the smallest input found for which `fails` is still true; it must be true for `input`.
pub(super) fn smallest(input: Value, mut fails: impl FnMut(&Value) -> bool) -> Value {
    let mut best = input;
    let mut left = QUESTIONS;
    loop {
        let mut better = None;
        let price = 1 + best.to_string().len() / LARGE;
        smaller(&best, &mut |candidate| {
            let Some(less) = left.checked_sub(price) else {
                return true;
            };
            left = less;
            if fails(&candidate) {
                better = Some(candidate);
            }
            better.is_some()
        });
        match better {
            Some(candidate) => best = candidate,
            None => return best,
        }
    }
}

/// Offers every simpler value, the simplest first, until one is accepted. The order is well-founded: fewer parts, then smaller
/// parts.
fn smaller(value: &Value, offer: &mut dyn FnMut(Value) -> bool) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => offer(json!(false)),
        Value::Number(number) => match number.as_i128() {
            Some(number) => smaller_integer(number, offer),
            None => number
                .as_f64()
                .is_some_and(|number| smaller_float(number, offer)),
        },
        Value::String(text) => smaller_text(text, offer),
        Value::Array(items) => smaller_array(items, offer),
        Value::Object(members) => smaller_object(members, offer),
    }
}

/// 0, then bisects towards the number: the last one that still fails is next to the first one that does not.
fn smaller_integer(number: i128, offer: &mut dyn FnMut(Value) -> bool) -> bool {
    if number < 0 && offer(integer::write(number.saturating_neg())) {
        return true;
    }
    let mut way = number;
    while way != 0 {
        // The second is for predicates that fail only at every other number.
        let beside = number - way + way.signum();
        if offer(integer::write(number - way)) || way.abs() > 1 && offer(integer::write(beside)) {
            return true;
        }
        way /= 2;
    }
    false
}

fn smaller_float(number: f64, offer: &mut dyn FnMut(Value) -> bool) -> bool {
    if number.is_sign_negative() && offer(json!(-number)) {
        return true;
    }
    #[allow(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    let whole = number.trunc() as i128;
    // An integer is simpler than any float; beyond 64 bits it is a float again.
    if number.abs() < 1e18
        && (offer(integer::write(0))
            || offer(integer::write(whole))
            || offer(integer::write(whole.saturating_add(whole.signum()))))
    {
        return true;
    }
    let length = json!(number).to_string().len();
    for scale in [2.0, 10.0, 100.0, 1_000.0] {
        let rounded = (number * scale).round() / scale;
        let shorter = json!(rounded).to_string().len() < length;
        if rounded.is_finite() && shorter && offer(json!(rounded)) {
            return true;
        }
    }
    if number.abs() > 1.0 {
        let half = number / 2.0;
        return offer(json!(half.trunc()))
            || offer(json!(number.trunc() - number.signum())) && number.abs() < 1e15;
    }
    false
}

fn smaller_text(text: &str, offer: &mut dyn FnMut(Value) -> bool) -> bool {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() > 1 && offer(json!("a")) {
        return true;
    }
    let without = &mut |kept: Vec<char>| offer(Value::from(kept.into_iter().collect::<String>()));
    if shorter(&letters, without) {
        return true;
    }
    let plain = letters.iter().filter(|letter| **letter != 'a').count();
    if plain > 1 && offer(json!("a".repeat(letters.len()))) {
        return true;
    }
    if letters.len() > 200 {
        return false;
    }
    for (place, letter) in letters.iter().enumerate() {
        for simpler in ['a', '0', ' ']
            .into_iter()
            .take_while(|simpler| simpler != letter)
        {
            let mut changed = letters.clone();
            if let Some(slot) = changed.get_mut(place) {
                *slot = simpler;
            }
            if offer(Value::from(changed.into_iter().collect::<String>())) {
                return true;
            }
        }
    }
    false
}

/// Offers nothing at all, then all without one piece of half the length, a quarter, and so on.
fn shorter<T: Clone>(parts: &[T], offer: &mut dyn FnMut(Vec<T>) -> bool) -> bool {
    let mut piece = parts.len();
    while piece > 0 {
        // In a long list one position is as good as another.
        let places = if parts.len() / piece > 64 {
            1
        } else {
            parts.len().div_ceil(piece)
        };
        for place in (0..places).rev() {
            let (start, end) = (place * piece, (place * piece + piece).min(parts.len()));
            let kept = parts.iter().take(start).chain(parts.iter().skip(end));
            if offer(kept.cloned().collect()) {
                return true;
            }
        }
        piece /= 2;
    }
    false
}

fn smaller_array(items: &[Value], offer: &mut dyn FnMut(Value) -> bool) -> bool {
    if shorter(items, &mut |kept| offer(Value::Array(kept))) {
        return true;
    }
    items.iter().enumerate().take(100).any(|(place, item)| {
        smaller(item, &mut |simpler| {
            let mut changed = items.to_vec();
            if let Some(slot) = changed.get_mut(place) {
                *slot = simpler;
            }
            offer(Value::Array(changed))
        })
    })
}

fn smaller_object(members: &Map<String, Value>, offer: &mut dyn FnMut(Value) -> bool) -> bool {
    for name in members.keys() {
        if offer(without(members, name)) {
            return true;
        }
    }
    for (name, member) in members {
        let found = smaller(member, &mut |simpler| offer(with(members, name, simpler)));
        if found {
            return true;
        }
    }
    together(members, offer)
}

/// All positive integers less by as much: what is said of two of them often holds of both moved.
fn together(members: &Map<String, Value>, offer: &mut dyn FnMut(Value) -> bool) -> bool {
    let integers = members
        .values()
        .filter_map(integer::read)
        .filter(|number| *number > 0);
    let integers: Vec<i128> = integers.collect();
    let Some(mut way) = integers
        .iter()
        .copied()
        .min()
        .filter(|_| integers.len() > 1)
    else {
        return false;
    };
    while way > 0 {
        let moved = members.iter().map(|(name, member)| {
            let less = integer::read(member)
                .filter(|number| *number > 0)
                .map(|number| integer::write(number - way));
            (name.clone(), less.unwrap_or_else(|| member.clone()))
        });
        if offer(Value::Object(moved.collect())) {
            return true;
        }
        way /= 2;
    }
    false
}
