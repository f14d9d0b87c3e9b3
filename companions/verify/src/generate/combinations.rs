//! Generates combinations of extreme values: parameters at their bounds and at constants of predicates.
//!
//! There sums overflow, sizes add up, and `!(dividend == i64::MIN && divisor == -1)` refuses its one pair: that pair is among them
//! for any two integers.

use serde_json::{Value, json};

use super::Maker;
use super::constants::Constants;
use super::layers::Layers;
use super::object::{member, names};
use crate::json::with;

/// The most combinations of one tool; beyond that, some of them.
const COMBINATIONS: usize = 128;

/// The most values of one parameter in them.
const EXTREMES: usize = 8;

impl<'s> Maker<'s> {
    /// Arguments like `base`, with every parameter that has bounds, or is a number or a text, at one of them or at a constant.
    pub(super) fn combinations(
        &mut self,
        layers: &Layers<'s>,
        base: &Value,
        depth: usize,
    ) -> Vec<Value> {
        let mut combinations = vec![base.clone()];
        for name in names(layers) {
            let own = Layers::of(&member(layers, name), self.root, self.rng, depth);
            let extremes = extremes(&own, self.constants);
            if extremes.is_empty() {
                continue;
            }
            let put = |combination: &Value, extreme: &Value| {
                let members = combination.as_object();
                members.map_or(Value::Null, |members| with(members, name, extreme.clone()))
            };
            combinations = if combinations.len() * extremes.len() <= COMBINATIONS {
                let each = |combination: &Value| {
                    extremes
                        .iter()
                        .map(|one| put(combination, one))
                        .collect::<Vec<_>>()
                };
                combinations.iter().flat_map(each).collect()
            } else {
                let turns = extremes.iter().cycle();
                combinations
                    .iter()
                    .zip(turns)
                    .map(|(combination, one)| put(combination, one))
                    .collect()
            };
        }
        combinations
    }

    /// Values like `base`, with one integer at its least and another at -1, in both orders: of these two there is no quotient.
    pub(super) fn quotients(
        &mut self,
        layers: &Layers<'s>,
        base: &Value,
        depth: usize,
    ) -> Vec<Value> {
        let Some(members) = base.as_object() else {
            return Vec::new();
        };
        let mut quotients = Vec::new();
        let mut least: Vec<(&str, Value)> = Vec::new();
        for name in names(layers) {
            let own = Layers::of(&member(layers, name), self.root, self.rng, depth);
            if own.types().unwrap_or_default().first() == Some(&"integer") {
                let range = super::number::Range::of(&own);
                least.extend(range.least_below(-1).map(|value| (name, value)));
            }
            if let (Some(inner), Some(depth)) = (members.get(name), depth.checked_sub(1)) {
                let within = self.quotients(&own, inner, depth);
                let within = within.into_iter();
                quotients.extend(within.map(|value| with(members, name, value)));
            }
        }
        for (dividend, value) in &least {
            let divisors = least.iter().filter(|(name, _)| name != dividend);
            quotients.extend(divisors.map(|(divisor, _)| {
                let mut both = members.clone();
                both.insert((*dividend).to_owned(), value.clone());
                with(&both, divisor, json!(-1))
            }));
        }
        quotients.truncate(COMBINATIONS);
        quotients
    }
}

/// The least and the most that may stand in a place, where there is such a thing, and the constants that may.
fn extremes(layers: &Layers<'_>, constants: &Constants) -> Vec<Value> {
    if let Some(values) = layers.listed() {
        return [values.first(), values.last()]
            .into_iter()
            .flatten()
            .map(|value| (*value).clone())
            .collect();
    }
    let types = layers.types().unwrap_or_default();
    match types.first().copied() {
        Some("boolean") => vec![json!(false), json!(true)],
        Some("integer" | "number") => {
            let range = super::number::Range::of(layers);
            let mut ends = range.ends();
            ends.extend(range.known_constants(constants));
            super::distinct(ends, EXTREMES)
        }
        Some("string") => {
            let lengths = super::text::Lengths::of(layers);
            let known = constants.texts.iter().filter(|text| lengths.has(text));
            known.take(EXTREMES).map(|text| json!(text)).collect()
        }
        _ => Vec::new(),
    }
}
