//! Generates objects: required, optional and forbidden members.

use serde_json::{Map, Value, json};

use super::layers::{Keywords, Layers};
use super::{Maker, around};
use crate::json::{with, without};

/// The most entries that are made to reach a bound.
const LARGEST: usize = 1_000;

impl<'s> Maker<'s> {
    /// An object that the layers admit, as far as they are understood.
    pub(super) fn object(&mut self, layers: &Layers<'s>, depth: usize) -> Value {
        let sparse = depth == 0 || self.rng.one_in(4);
        let full = depth > 0 && self.rng.one_in(3);
        let mut members = Map::new();
        for name in names(layers) {
            let often = if sparse { 8 } else { 2 };
            if required(layers, name) || full || self.rng.one_in(often) {
                let value = self.value(&member(layers, name), depth.saturating_sub(1));
                members.insert(name.to_owned(), value);
            }
        }
        self.others(layers, &mut members, depth);
        Value::Object(members)
    }

    /// Members that no property names: of a map, or by way of exception.
    fn others(&mut self, layers: &Layers<'s>, members: &mut Keywords, depth: usize) {
        let rest: Vec<&Value> = layers.all("additionalProperties").collect();
        let patterns: Vec<(&str, &Value)> = layers
            .all("patternProperties")
            .filter_map(Value::as_object)
            .flat_map(|patterns| {
                patterns
                    .iter()
                    .map(|(pattern, schema)| (pattern.as_str(), schema))
            })
            .collect();
        let low = layers.count("minProperties", u64::max).unwrap_or(0);
        let high = layers
            .count("maxProperties", u64::min)
            .unwrap_or(usize::MAX);
        let closed = rest.iter().any(|rest| **rest == Value::Bool(false));
        let is_map = rest.iter().any(|rest| rest.is_object());
        let wanted = match (
            closed && patterns.is_empty(),
            is_map || !patterns.is_empty(),
        ) {
            (true, _) => 0,
            (_, true) if depth == 0 => low,
            (_, true) => self.entries(low),
            _ if self.rng.one_in(16) => 1,
            _ => low.saturating_sub(members.len()),
        };
        let schemas: Vec<&Value> = rest.into_iter().filter(|rest| rest.is_object()).collect();
        for _ in 0..wanted.min(64) {
            if members.len() >= high {
                break;
            }
            match self.rng.pick(&patterns).copied() {
                Some((pattern, schema)) if closed || self.rng.one_in(2) => {
                    if let Some(name) = self.rng.matching(pattern) {
                        let value = self.value(&[schema], depth.saturating_sub(1));
                        members.insert(name, value);
                    }
                }
                _ => {
                    let name = self.key(layers, depth);
                    if !members.contains_key(&name) {
                        let value = self.value(&schemas, depth.saturating_sub(1));
                        members.insert(name, value);
                    }
                }
            }
        }
    }

    /// How many entries a map has.
    fn entries(&mut self, low: usize) -> usize {
        let known: Vec<usize> = self.constants.counts(64).collect();
        match self.rng.pick(&known).copied() {
            Some(known) if self.rng.one_in(3) => {
                (known + self.rng.below(3)).saturating_sub(1).max(low)
            }
            _ => low + self.rng.below(4),
        }
    }

    fn key(&mut self, layers: &Layers<'s>, depth: usize) -> String {
        let named: Vec<&Value> = layers.all("propertyNames").collect();
        if let Some(schema) = self.rng.pick(&named).copied()
            && let Value::String(name) = self.value(&[schema], depth.saturating_sub(1))
        {
            return name;
        }
        let usual = ["a", "b", "key", "", "é", "0", "1", "a/b~c"];
        match self.rng.below(4) {
            1 => self.rng.below(1_000).to_string(),
            0 => {
                let known = &self.constants.texts;
                self.rng
                    .pick(known)
                    .cloned()
                    .unwrap_or_else(|| "a".to_owned())
            }
            _ => self
                .rng
                .pick(&usual)
                .map_or_else(String::new, |name| (*name).to_owned()),
        }
    }

    /// The object with each member at each of its boundaries, left out, and `null`; and with one too many.
    pub(super) fn object_boundaries(
        &mut self,
        layers: &Layers<'s>,
        depth: usize,
        base: Option<&Value>,
    ) -> Vec<Value> {
        let made;
        let base = if let Some(base) = base.and_then(Value::as_object) {
            base
        } else {
            made = self.object(layers, depth);
            let Some(made) = made.as_object() else {
                return Vec::new();
            };
            made
        };
        let mut boundaries = vec![
            Value::Object(base.clone()),
            with(base, "unheard_of", json!(1)),
        ];
        let names = names(layers);
        let each = 400 / names.len().max(1);
        for name in names {
            boundaries.push(without(base, name));
            let Some(depth) = depth.checked_sub(1) else {
                continue;
            };
            let own = self.boundaries(&member(layers, name), depth).into_iter();
            boundaries.extend(own.take(each.max(40)).map(|value| with(base, name, value)));
        }
        if names_are_open(layers)
            && let Some(depth) = depth.checked_sub(1)
        {
            let schemas: Vec<&Value> = layers.all("additionalProperties").collect();
            let others = self.boundaries(&schemas, depth).into_iter();
            boundaries.extend(others.take(40).map(|value| with(base, "a", value)));
            boundaries.extend(self.sizes(layers, &schemas, depth));
        }
        boundaries
    }

    /// Maps of as many entries as the bounds and the predicates speak of, one more and one less.
    fn sizes(&mut self, layers: &Layers<'s>, schemas: &[&'s Value], depth: usize) -> Vec<Value> {
        let mut sizes: Vec<usize> = self.constants.counts(LARGEST).collect();
        sizes.extend(layers.count("minProperties", u64::max));
        sizes.extend(layers.count("maxProperties", u64::min));
        let map = |size| {
            let value = self.value(schemas, depth);
            let entries = (0..size).map(|place| (format!("k{place}"), value.clone()));
            Value::Object(entries.collect())
        };
        around(sizes, LARGEST).into_iter().map(map).collect()
    }
}

/// The properties that the layers name, each once, in order.
pub(super) fn names<'s>(layers: &Layers<'s>) -> Vec<&'s str> {
    let mut names = Vec::new();
    for properties in layers.all("properties").filter_map(Value::as_object) {
        for name in properties.keys() {
            if !names.contains(&name.as_str()) {
                names.push(name.as_str());
            }
        }
    }
    names
}

/// What is said of a property.
pub(super) fn member<'s>(layers: &Layers<'s>, name: &str) -> Vec<&'s Value> {
    layers
        .all("properties")
        .filter_map(|properties| properties.get(name))
        .collect()
}

pub(super) fn required(layers: &Layers<'_>, name: &str) -> bool {
    let mut lists = layers.all("required").filter_map(Value::as_array);
    lists.any(|names| names.iter().any(|one| one == name))
}

fn names_are_open(layers: &Layers<'_>) -> bool {
    layers.all("additionalProperties").any(Value::is_object)
}
