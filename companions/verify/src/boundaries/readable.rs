//! Puts short, round values in the place of long ones, so that a person can read what was recorded.

use serde_json::{Value, json};

use crate::integer;

/// How far from a bound its other side is recorded: near enough that a bound that moves passes it.
const NEAR: f64 = 0.001;

/// Beyond this a double has no thousandths.
const WIDEST: f64 = 1e9;

/// The longest number that is read at a glance, in characters.
const SHORT: usize = 8;

/// An accepted value and a refused one.
type Pair = (Value, Value);

/// Offers simpler pairs, the best first.
type Offer = fn(&Value, &Value) -> Vec<Pair>;

/// Returns two inputs that are simpler than neighbours and say the same. `holds` judges them: the first must be accepted, the second
/// refused.
pub(super) fn readable(
    mut accepted: Value,
    mut refused: Value,
    holds: &mut dyn FnMut(&Value, &Value) -> bool,
) -> (Value, Value) {
    for offer in [plain_lists as Offer, round_numbers] {
        let mut offered = offer(&accepted, &refused).into_iter();
        if let Some((one, other)) = offered.find(|(one, other)| holds(one, other)) {
            (accepted, refused) = (one, other);
        }
    }
    (accepted, refused)
}

/// The pair with another value in the place where it differs.
fn at_difference(
    one: &Value,
    other: &Value,
    change: &dyn Fn(&Value, &Value) -> Vec<Pair>,
) -> Vec<Pair> {
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            let mut differing = left
                .iter()
                .filter(|(name, value)| right.get(*name) != Some(value));
            let (Some((name, value)), None) = (differing.next(), differing.next()) else {
                return Vec::new();
            };
            let Some(beside) = right.get(name) else {
                return Vec::new();
            };
            let put = |(new, beside)| {
                let (mut left, mut right) = (left.clone(), right.clone());
                left.insert(name.clone(), new);
                right.insert(name.clone(), beside);
                (Value::Object(left), Value::Object(right))
            };
            let changed = at_difference(value, beside, change).into_iter();
            changed.map(put).collect()
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let mut differing =
                (0..left.len()).filter(|place| left.get(*place) != right.get(*place));
            let (Some(place), None) = (differing.next(), differing.next()) else {
                return change(one, other);
            };
            let (Some(value), Some(beside)) = (left.get(place), right.get(place)) else {
                return Vec::new();
            };
            let put = |(new, beside)| {
                let with = |items: &[Value], item: Value| {
                    let mut items = items.to_vec();
                    items.splice(place..=place, [item]);
                    Value::Array(items)
                };
                (with(left, new), with(right, beside))
            };
            let inner = at_difference(value, beside, change).into_iter().map(put);
            // Other items may be simpler as well.
            change(one, other).into_iter().chain(inner).collect()
        }
        _ => change(one, other),
    }
}

/// Lists of equal, short items, but for the one in which they differ; or of that one alone.
fn plain_lists(accepted: &Value, refused: &Value) -> Vec<Pair> {
    at_difference(accepted, refused, &|one, other| {
        let (Some(left), Some(right)) = (one.as_array(), other.as_array()) else {
            return Vec::new();
        };
        let shortest = left
            .iter()
            .chain(right)
            .min_by_key(|item| item.to_string().len());
        let differs =
            |place: usize| left.len() == right.len() && left.get(place) != right.get(place);
        let mut offers = Vec::new();
        if let (Some(place), true) = (
            (0..left.len()).find(|place| differs(*place)),
            left.len() > 1,
        ) {
            let alone = |items: &[Value]| {
                items
                    .get(place)
                    .map_or_else(|| json!([]), |item| json!([item]))
            };
            offers.push((alone(left), alone(right)));
        }
        let zero = json!(0);
        for item in [
            Some(&zero).filter(|_| shortest.is_some_and(Value::is_number)),
            shortest,
        ]
        .into_iter()
        .flatten()
        {
            let plain = |items: &[Value]| -> Value {
                let items = items.iter().enumerate();
                items
                    .map(|(place, own)| if differs(place) { own } else { item }.clone())
                    .collect()
            };
            offers.push((plain(left), plain(right)));
        }
        offers
    })
}

/// A round bound, and what is a little beyond it.
fn round_numbers(accepted: &Value, refused: &Value) -> Vec<Pair> {
    at_difference(accepted, refused, &|one, other| {
        let (Some(low), Some(high)) = (one.as_f64(), other.as_f64()) else {
            return Vec::new();
        };
        if integer::read(one).is_some() && integer::read(other).is_some() {
            return Vec::new();
        }
        // `-0.0` is read as a mistake.
        let positive = |value: f64| if value == 0.0 { 0.0 } else { value };
        let length = |value: f64| json!(value).to_string().len();
        let mut sides = [(positive(low), true), (positive(high), false)];
        sides.sort_by_key(|(value, _)| length(*value));
        let mut offers = Vec::new();
        for (round, is_first) in sides {
            let towards = if (high > low) == is_first { 1.0 } else { -1.0 };
            if length(round) > SHORT || round.abs() > WIDEST {
                continue;
            }
            let near = near(round) * towards;
            let beyond = tidy(round + near, near.abs());
            let (round, beyond) = (json!(round), json!(beyond));
            offers.push(if is_first {
                (round, beyond)
            } else {
                (beyond, round)
            });
        }
        offers
    })
}

/// A thousandth, or of a small number a thousandth of its first digit.
fn near(value: f64) -> f64 {
    let mut unit = 1.0;
    while value != 0.0 && unit > value.abs() * 10.0 && unit > f64::MIN_POSITIVE {
        unit /= 10.0;
    }
    NEAR * unit
}

/// The sum without the digits that only a double adds.
fn tidy(value: f64, step: f64) -> f64 {
    let tidied = (value / step).round() * step;
    // Its shortest text has them no more.
    let shorter = [
        tidied,
        (value * (1.0 / step).round()).round() / (1.0 / step).round(),
    ];
    let length = |value: &f64| json!(value).to_string().len();
    shorter
        .into_iter()
        .filter(|value| value.is_finite())
        .min_by_key(length)
        .unwrap_or(value)
}
