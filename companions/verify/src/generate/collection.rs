//! Generates arrays: as many items as the bounds say, one more and one less.

use serde_json::{Value, json};

use super::layers::{Layers, list};
use super::{DEPTH, Maker, around};

/// The most items that are made to reach a bound.
pub(crate) const FARTHEST: usize = 100_000;

/// The most items that are made by chance, or that differ from each other.
const MOST: usize = 2_000;

struct Counts {
    low: usize,
    high: Option<usize>,
}

impl Counts {
    fn of(layers: &Layers<'_>) -> Self {
        let tuple = layers
            .said
            .iter()
            .map(|layer| list(layer, "prefixItems").len())
            .max()
            .unwrap_or(0);
        let closed = layers
            .all("items")
            .any(|items| *items == Value::Bool(false));
        let high = layers.count("maxItems", u64::min);
        let contained = usize::from(layers.all("contains").next().is_some());
        Self {
            low: layers
                .count("minItems", u64::max)
                .unwrap_or(0)
                .max(contained),
            high: if closed {
                Some(high.map_or(tuple, |high| high.min(tuple)))
            } else {
                high
            },
        }
    }
}

impl<'s> Maker<'s> {
    /// An array that the layers admit, as far as they are understood.
    pub(super) fn array(&mut self, layers: &Layers<'s>, depth: usize) -> Value {
        let counts = Counts::of(layers);
        let known: Vec<usize> = self.constants.counts(MOST).collect();
        let around = self.rng.below(3);
        let count = match self.rng.below(6) {
            _ if depth == 0 => counts.low,
            0 => counts.low,
            1 => counts.high.unwrap_or(counts.low + 3).min(counts.low + 40),
            2 if !known.is_empty() => (self.rng.pick(&known).copied().unwrap_or_default() + around)
                .saturating_sub(1)
                .min(64),
            _ => counts.low + self.rng.below(4),
        };
        let count = count
            .min(counts.high.unwrap_or(MOST))
            .min(MOST)
            .max(counts.low)
            .min(FARTHEST);
        self.items(layers, count, depth)
    }

    /// An array of that many items.
    fn items(&mut self, layers: &Layers<'s>, count: usize, depth: usize) -> Value {
        let unique = layers
            .all("uniqueItems")
            .any(|unique| *unique == Value::Bool(true));
        let count = if unique { count.min(MOST) } else { count };
        let far = count > MOST;
        let mut items: Vec<Value> = Vec::with_capacity(count.min(MOST));
        let mut tries = 0;
        while items.len() < count && tries < count * 8 + 8 {
            tries += 1;
            let schemas = item_schemas(layers, items.len());
            // Of a long list most items say nothing that the first ones do not.
            let item = match items.last() {
                Some(last)
                    if items.len() > 40
                        && !unique
                        && layers.all("prefixItems").next().is_none() =>
                {
                    match items.get(41) {
                        None if far => smallest(&items),
                        _ => last.clone(),
                    }
                }
                _ => self.value(&schemas, depth.saturating_sub(1)),
            };
            if !unique || !items.contains(&item) {
                items.push(item);
            }
        }
        for contained in layers.all("contains") {
            let item = self.value(&[contained], depth.saturating_sub(1));
            let place = self.rng.below(items.len());
            if let Some(slot) = items.get_mut(place) {
                *slot = item;
            }
        }
        let alike =
            layers.all("prefixItems").next().is_none() && layers.all("contains").next().is_none();
        if alike && !unique && items.len() > 1 && self.rng.one_in(6) {
            let first = items.first().cloned();
            if let (Some(last), Some(first)) = (items.last_mut(), first) {
                *last = first;
            }
        }
        Value::Array(items)
    }

    /// Every count around the bounds, and each boundary of an item alone and among others.
    pub(super) fn array_boundaries(&mut self, layers: &Layers<'s>, depth: usize) -> Vec<Value> {
        let counts = Counts::of(layers);
        let mut at = vec![0, 1, counts.low, counts.high.unwrap_or(2)];
        at.extend(self.constants.counts(100));
        if counts.high.is_none() && depth + 1 >= DEPTH {
            at.push(32);
        }
        let mut boundaries: Vec<Value> = around(at, FARTHEST)
            .into_iter()
            .map(|count| self.items(layers, count, depth))
            .collect();
        let Some(depth) = depth.checked_sub(1) else {
            return boundaries;
        };
        let wanted = counts.low.max(1);
        let first = self.boundaries(&item_schemas(layers, 0), depth);
        for boundary in first.into_iter().take(60) {
            let mut whole = self.items(layers, wanted, depth);
            if let Some(slot) = whole.as_array_mut().and_then(|items| items.first_mut()) {
                *slot = boundary;
            }
            boundaries.push(whole);
        }
        let twice = self.value(&item_schemas(layers, 0), depth);
        boundaries.push(json!([twice, twice]));
        boundaries
    }
}

/// The one with the shortest text, so that many of them fit into a call.
fn smallest(items: &[Value]) -> Value {
    let smallest = items.iter().min_by_key(|item| item.to_string().len());
    smallest.cloned().unwrap_or_default()
}

/// What is said of the item at a place.
fn item_schemas<'s>(layers: &Layers<'s>, place: usize) -> Vec<&'s Value> {
    let own = layers.said.iter().filter_map(|layer| {
        list(layer, "prefixItems")
            .get(place)
            .or_else(|| layer.get("items"))
    });
    own.filter(|schema| schema.is_object() || schema.is_boolean())
        .collect()
}
