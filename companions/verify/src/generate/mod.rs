//! Arguments of a tool: right ones, nearly right ones, and wrong ones.
//!
//! They are made from the schema by hand and not by a tree of strategies, because a schema is a graph that is known only when
//! it runs, and because what fails is made smaller as JSON (see `reduce`), also when it was read from a file.
//!
//! | file | what is in it |
//! |---|---|
//! | `chance` | the source of chance, and texts that a pattern matches (proptest) |
//! | `constants` | what the predicates speak of |
//! | `layers` | all that a schema says of one place |
//! | `number`, `text`, `collection`, `object` | values by chance, and the edges of each bound |
//! | `corner` | several parameters at their bounds |
//! | `relation` | parameters brought near each other |
//! | `nest` | values put into themselves |
//! | `invalid` | arguments of the wrong types, and texts that are no arguments |

mod chance;
mod collection;
mod constants;
mod corner;
mod invalid;
mod layers;
mod nest;
mod number;
mod object;
mod relation;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashSet;

use serde_json::{Value, json};

pub(super) use self::invalid::malformed;
pub(super) use self::{collection::FARTHEST as MOST_ITEMS, text::FARTHEST as MOST_CHARACTERS};

use self::chance::Chance;
use self::constants::Constants;
use self::layers::Layers;
use crate::PublishedCondition;

/// How deep values are nested before they are closed as soon as that is possible.
const DEPTH: usize = 4;

/// The most levels and the most values, where a schema demands more of them.
const DEEPEST: usize = 16;
const LARGEST: usize = 2_000;

/// A fraction of them is enough to see that a type has no end: so often values were cut off before any was accepted.
const OFTEN: u32 = 6;

/// The most edges of one place, and of one tool.
const EDGES: usize = 400;
const ALL_EDGES: usize = 3_000;

/// The inputs that were accepted last, to be varied.
const POOL: usize = 48;

/// Makes values from one schema.
struct Maker<'s> {
    root: &'s Value,
    constants: &'s Constants,
    chance: &'s mut Chance,
    /// How deep inside of a value the next one stands, and how many there are in it so far.
    within: usize,
    made: usize,
    /// How many values were cut off since arguments were accepted.
    cut: &'s mut u32,
}

impl<'s> Maker<'s> {
    /// A value that all these schemas admit, as far as they are understood.
    fn value(&mut self, schemas: &[&'s Value], depth: usize) -> Value {
        // A type that must hold itself has no values, and looking for one would never end.
        if self.within == 0 {
            self.made = 0;
        }
        let largest = LARGEST >> (*self.cut).min(OFTEN);
        if self.within > DEEPEST || self.made > largest {
            return Value::Null;
        }
        self.within += 1;
        self.made += 1;
        let value = self.tried(schemas, depth);
        self.within -= 1;
        if self.within == 0 && self.made > largest {
            *self.cut = self.cut.saturating_add(1);
        }
        value
    }

    fn tried(&mut self, schemas: &[&'s Value], depth: usize) -> Value {
        let mut value = Value::Null;
        for _ in 0..6 {
            let layers = Layers::of(schemas, self.root, self.chance, depth);
            value = self.once(&layers, depth);
            if !layers.refuses(&value) {
                break;
            }
        }
        value
    }

    fn once(&mut self, layers: &Layers<'s>, depth: usize) -> Value {
        if layers.never {
            return Value::Null;
        }
        let types = layers.types();
        if let Some(values) = layers.listed() {
            let fitting = |value: &Value| {
                types
                    .as_ref()
                    .is_none_or(|types| types.iter().any(|name| is_of(value, name)))
            };
            let values: Vec<&Value> = values.into_iter().filter(|value| fitting(value)).collect();
            return self
                .chance
                .pick(&values)
                .map_or(Value::Null, |value| (*value).clone());
        }
        let Some(types) = types else {
            return self.anything(depth);
        };
        let some: Vec<&str> = types
            .iter()
            .copied()
            .filter(|name| *name != "null")
            .collect();
        let null = types.len() > some.len() && (some.is_empty() || self.chance.one_in(5));
        match self.chance.pick(&some).copied().filter(|_| !null) {
            Some("boolean") => json!(self.chance.one_in(2)),
            Some("integer") => self.integer(layers),
            Some("number") => self.number(layers),
            Some("string") => self.text(layers),
            Some("array") => self.array(layers, depth),
            Some("object") => self.object(layers, depth),
            _ => Value::Null,
        }
    }

    /// Any JSON, for a place of which nothing is said.
    fn anything(&mut self, depth: usize) -> Value {
        let free = Layers::default();
        match self.chance.below(if depth == 0 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.chance.one_in(2)),
            2 => self.integer(&free),
            3 => self.number(&free),
            4 => self.text(&free),
            5 => self.array(&free, depth.min(2)),
            _ => json!({ "a": self.anything(depth.min(2) - 1) }),
        }
    }

    /// Values at every bound and just past it, right and wrong ones.
    fn edges(&mut self, schemas: &[&'s Value], depth: usize) -> Vec<Value> {
        let mut edges: Vec<Value> = Vec::new();
        // Where there are branches, each look takes others.
        for _ in 0..looks(schemas, self.root) {
            let layers = Layers::of(schemas, self.root, self.chance, depth);
            edges.extend(layers.listed().into_iter().flatten().take(64).cloned());
            let types = layers.types().unwrap_or_default();
            for name in &types {
                match *name {
                    _ if layers.listed().is_some() => {
                        let listed: Vec<Value> = edges.iter().take(8).cloned().collect();
                        edges.extend(listed.iter().flat_map(invalid::near_misses));
                        break;
                    }
                    "boolean" => edges.extend([json!(true), json!(false)]),
                    "integer" => edges.extend(self.number_edges(&layers, true)),
                    "number" => edges.extend(self.number_edges(&layers, false)),
                    "string" => edges.extend(self.text_edges(&layers)),
                    "array" => edges.extend(self.array_edges(&layers, depth)),
                    "object" => edges.extend(self.object_edges(&layers, depth, None)),
                    _ => {}
                }
            }
        }
        edges.extend(invalid::of_each_type());
        distinct(edges, EDGES)
    }
}

/// How often a place is looked at, so that each branch of a choice is likely to be seen.
fn looks(schemas: &[&Value], root: &Value) -> usize {
    let branches = schemas.iter().filter_map(|schema| {
        let keywords = schema.as_object()?;
        let target = layers::target(keywords, root).and_then(Value::as_object);
        [Some(keywords), target]
            .into_iter()
            .flatten()
            .map(|keywords| {
                layers::list(keywords, "anyOf").len() + layers::list(keywords, "oneOf").len()
            })
            .max()
    });
    match branches.max().unwrap_or(0) {
        0 => 1,
        count => (count * 3).min(24),
    }
}

fn distinct(values: Vec<Value>, most: usize) -> Vec<Value> {
    let mut seen = HashSet::new();
    let new = values
        .into_iter()
        .filter(|value| seen.insert(value.to_string()));
    new.take(most).collect()
}

/// Whether a value has a type of JSON Schema.
fn is_of(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number"
                || name == "integer" && number.as_f64().is_none_or(|value| value.fract() == 0.0)
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

/// Makes arguments for one tool.
pub(super) struct Generator<'s> {
    /// The schema of the types alone.
    types: &'s Value,
    /// The schema with what the conditions say.
    published: &'s Value,
    constants: Constants,
    chance: Chance,
    /// Arguments that were accepted, and what the author shows.
    pool: Vec<Value>,
    /// Something refers to a type, maybe to itself.
    recursive: bool,
    /// How many values were cut off, because they had no end, since arguments were accepted.
    cut: u32,
}

impl<'s> Generator<'s> {
    pub(super) fn new(
        tool: &str,
        types: &'s Value,
        published: &'s Value,
        conditions: &[PublishedCondition],
        seed: u64,
    ) -> Self {
        Self {
            types,
            published,
            constants: Constants::of(conditions),
            chance: Chance::new(seed, tool),
            pool: Vec::new(),
            recursive: layers::refers(types),
            cut: 0,
        }
    }

    fn maker<'g>(&'g mut self, root: &'g Value) -> Maker<'g> {
        Maker {
            root,
            constants: &self.constants,
            chance: &mut self.chance,
            within: 0,
            made: 0,
            cut: &mut self.cut,
        }
    }

    /// Keeps arguments that were accepted, to vary them.
    pub(super) fn accepted(&mut self, input: &Value) {
        self.cut = 0;
        if self.pool.len() < POOL {
            self.pool.push(input.clone());
        } else if self.chance.one_in(8) {
            let place = self.chance.below(POOL);
            if let Some(slot) = self.pool.get_mut(place) {
                slot.clone_from(input);
            }
        }
    }

    /// Arguments that the published schema admits, as far as it is understood.
    pub(super) fn right(&mut self) -> Value {
        let published = self.published;
        let whole = layers::list_of(published, "examples");
        if !whole.is_empty() && self.chance.one_in(4) {
            return self.chance.pick(whole).cloned().unwrap_or_default();
        }
        let mut input = self.maker(published).value(&[published], DEPTH);
        self.show(&mut input);
        if self.recursive && self.chance.one_in(4) {
            nest::deepen(&mut input, &mut self.chance);
        }
        input
    }

    /// Arguments that the types admit, as far as they are understood.
    pub(super) fn typed(&mut self) -> Value {
        let types = self.types;
        self.maker(types).value(&[types], DEPTH)
    }

    /// Puts an example of the author in the place of what was made, now and then.
    fn show(&mut self, input: &mut Value) {
        let Some(members) = input.as_object_mut() else {
            return;
        };
        let properties = self.published.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let examples = schema
                .get("examples")
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            if !examples.is_empty() && self.chance.one_in(2) {
                let example = self.chance.pick(examples).cloned();
                members.extend(example.map(|example| (name.clone(), example)));
            }
        }
    }

    /// One more input: right, nearly right, or wrong.
    pub(super) fn next(&mut self) -> Value {
        match self.chance.below(16) {
            0..=5 => {
                let mut input = self.right();
                if self.chance.one_in(2) {
                    relation::relate(&mut input, &mut self.chance);
                }
                input
            }
            6..=9 => {
                let mut input = self.right();
                self.redraw(&mut input);
                input
            }
            10..=12 => {
                let Some(mut input) = self.chance.pick(&self.pool).cloned() else {
                    return self.typed();
                };
                if self.chance.one_in(2) {
                    self.redraw(&mut input);
                } else {
                    relation::relate(&mut input, &mut self.chance);
                }
                input
            }
            13 => {
                let mut input = self.typed();
                if self.chance.one_in(2) {
                    relation::relate(&mut input, &mut self.chance);
                }
                input
            }
            _ => {
                let mut input = self.right();
                invalid::spoil(&mut input, &mut self.chance);
                input
            }
        }
    }

    /// Draws one parameter anew, from its type alone.
    fn redraw(&mut self, input: &mut Value) {
        let types = self.types;
        let drawn = self.typed();
        let names: Vec<&String> = types
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|all| all.keys())
            .collect();
        let (Some(name), Some(members)) =
            (self.chance.pick(&names).copied(), input.as_object_mut())
        else {
            return;
        };
        match drawn.get(name) {
            Some(value) => drop(members.insert(name.clone(), value.clone())),
            None => drop(members.shift_remove(name)),
        }
    }

    /// Every bound of the schemas and just past it, each in arguments that are otherwise like `base`.
    pub(super) fn edges(&mut self, base: &Value) -> Vec<Value> {
        let (types, published) = (self.types, self.published);
        let mut edges = Vec::new();
        for root in [published, types] {
            let mut maker = self.maker(root);
            let layers = Layers::of(&[root], root, maker.chance, DEPTH);
            edges.extend(maker.corners(&layers, base, DEPTH));
            edges.extend(maker.object_edges(&layers, DEPTH, Some(base)));
        }
        distinct(edges, ALL_EDGES)
    }
}
