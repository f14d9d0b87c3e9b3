//! Replaces exclusive bounds with inclusive ones.

use std::cmp::Ordering;

use contract_schema::Decimal;
use serde_json::{Map, Number, Value, json};

use crate::merge::named;
use crate::prose;

type Keywords = Map<String, Value>;

const ENDS: [(&str, &str, Ordering); 2] = [
    ("minimum", "exclusiveMinimum", Ordering::Greater),
    ("maximum", "exclusiveMaximum", Ordering::Less),
];

/// Exclusive bounds as inclusive ones: of integers the next, of other numbers the same and words.
pub(super) fn inclusive(node: &mut Keywords, said: &mut Vec<String>) {
    let integral = node
        .get("type")
        .is_some_and(|types| named(types, "integer") && !named(types, "number"));
    for (inclusive, exclusive, tighter) in ENDS {
        let Some(Value::Number(bound)) = node.shift_remove(exclusive) else {
            continue;
        };
        let next = integral.then(|| neighbour(&bound, tighter)).flatten();
        let admitted = next.clone().unwrap_or_else(|| Value::Number(bound.clone()));
        let known = node
            .get(inclusive)
            .and_then(Value::as_number)
            .map(Decimal::of);
        let order =
            known.and_then(|known| admitted.as_number().map(|new| known.cmp(&Decimal::of(new))));
        if order == Some(tighter) {
            // The other bound says more.
            continue;
        }
        node.insert(inclusive.to_owned(), admitted);
        if next.is_none() {
            let exclusive = Keywords::from_iter([(exclusive.to_owned(), Value::Number(bound))]);
            said.extend(prose::phrases(&exclusive));
        }
    }
}

/// The first integer beyond an exclusive bound, if it is written in 64 bits.
fn neighbour(bound: &Number, tighter: Ordering) -> Option<Value> {
    let up = tighter == Ordering::Greater;
    let exact = bound.as_i128().or_else(|| {
        let float = bound.as_f64()?;
        let inside = float.abs() < 9.0e15;
        #[allow(clippy::cast_possible_truncation, reason = "its size was asked")]
        let whole = |float: f64| inside.then_some(float as i128);
        // A value that is not an integer has its neighbours on both sides.
        if up {
            whole(float.floor())
        } else {
            whole(float.ceil())
        }
    })?;
    let next = if up { exact + 1 } else { exact - 1 };
    let signed = i64::try_from(next).map(Value::from);
    signed
        .or_else(|_| u64::try_from(next).map(Value::from))
        .ok()
}

/// Bounds that are not the same as doubles become words: they would be rounded, perhaps inwards.
pub(super) fn doubles(node: &mut Keywords, said: &mut Vec<String>) {
    for keyword in ["minimum", "maximum"] {
        let exact = |value: &Value| {
            let number = value.as_number()?;
            Some(Decimal::of(number) == Decimal::of_float(number.as_f64()?))
        };
        if node
            .get(keyword)
            .is_some_and(|value| exact(value) != Some(true))
        {
            let inexact = node.shift_remove_entry(keyword);
            said.extend(prose::phrases(&inexact.into_iter().collect()));
        }
    }
}

/// The bounds of a list of numbers.
pub(super) fn between(node: &mut Keywords, values: &[Value]) {
    let mut numbers: Vec<&Number> = values.iter().filter_map(Value::as_number).collect();
    numbers.sort_by_key(|number| Decimal::of(number));
    let ends = [("minimum", numbers.first()), ("maximum", numbers.last())];
    for ((keyword, end), (_, _, tighter)) in ends.into_iter().zip(ENDS) {
        let known = node
            .get(keyword)
            .and_then(Value::as_number)
            .map(Decimal::of);
        let Some(end) = end else { continue };
        if known.is_none_or(|known| known.cmp(&Decimal::of(end)) != tighter) {
            node.insert(keyword.to_owned(), json!(end));
        }
    }
}
