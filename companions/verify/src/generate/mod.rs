//! Generates arguments for a tool: valid, nearly valid and invalid.
//!
//! They are generated from the schema directly and not by proptest strategies, because a schema is a graph that is known only at
//! run time, and because failing inputs are shrunk as JSON (see `shrink`), even those read from a file.
//!
//! | file | what is in it |
//! |---|---|
//! | `rng` | the random number generator, and texts that a pattern matches (proptest) |
//! | `constants` | the constants of predicates, and of the functions that they call |
//! | `layers` | everything that a schema says about one location |
//! | `number`, `text`, `collection`, `object` | random values, and those at each bound and just past it |
//! | `combinations` | several parameters at their bounds at once |
//! | `relation` | parameters brought near each other |
//! | `nesting` | values nested in themselves |
//! | `invalid` | arguments of the wrong types, and texts that are not arguments |

mod collection;
mod combinations;
mod constants;
mod invalid;
mod layers;
mod nesting;
mod number;
mod object;
mod relation;
mod rng;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeSet, HashSet};

use contract_runtime::PublishedCondition;
use serde_json::{Value, json};

use self::constants::Constants;
pub(super) use self::constants::words;
pub(super) use self::invalid::malformed;
use self::layers::Layers;
pub(super) use self::rng::Rng;
pub(super) use self::{collection::FARTHEST as MOST_ITEMS, text::FARTHEST as MOST_CHARACTERS};
use super::json::with;
use super::subject::Subject;

/// The depth from which values are nested no deeper than necessary.
const DEPTH: usize = 4;

/// The most levels and the most values, even if a schema demands more.
const DEEPEST: usize = 16;
const LARGEST: usize = 2_000;

/// How often the limit is halved if values were cut off and none was accepted, because the type may have no finite values.
const OFTEN: u32 = 6;

/// The most boundary values of one location, and of one tool.
const BOUNDARIES: usize = 400;
const ALL_BOUNDARIES: usize = 3_000;

/// The inputs that were accepted last, to be varied.
const POOL: usize = 48;

/// Makes values from one schema.
struct Maker<'s> {
    root: &'s Value,
    constants: &'s Constants,
    rng: &'s mut Rng,
    /// The nesting depth of the next value, and the number of values generated so far.
    within: usize,
    made: usize,
    /// How many values were cut off since arguments were accepted.
    cut: &'s mut u32,
}

impl<'s> Maker<'s> {
    /// Generates a value that is valid for all these schemas, as far as they are understood.
    fn value(&mut self, schemas: &[&'s Value], depth: usize) -> Value {
        // A type that must contain itself has no finite values, and the search for one would never end.
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
            let layers = Layers::of(schemas, self.root, self.rng, depth);
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
                .rng
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
        let null = types.len() > some.len() && (some.is_empty() || self.rng.one_in(5));
        match self.rng.pick(&some).copied().filter(|_| !null) {
            Some("boolean") => json!(self.rng.one_in(2)),
            Some("integer") => self.integer(layers),
            Some("number") => self.number(layers),
            Some("string") => self.text(layers),
            Some("array") => self.array(layers, depth),
            Some("object") => self.object(layers, depth),
            _ => Value::Null,
        }
    }

    /// Generates any JSON, for a location without keywords.
    fn anything(&mut self, depth: usize) -> Value {
        let free = Layers::default();
        match self.rng.below(if depth == 0 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.rng.one_in(2)),
            2 => self.integer(&free),
            3 => self.number(&free),
            4 => self.text(&free),
            5 => self.array(&free, depth.min(2)),
            _ => json!({ "a": self.anything(depth.min(2) - 1) }),
        }
    }

    /// Generates values at every bound and just past it, valid and invalid ones.
    fn boundaries(&mut self, schemas: &[&'s Value], depth: usize) -> Vec<Value> {
        let mut boundaries: Vec<Value> = Vec::new();
        // Each iteration takes other branches.
        for _ in 0..looks(schemas, self.root) {
            let layers = Layers::of(schemas, self.root, self.rng, depth);
            boundaries.extend(layers.listed().into_iter().flatten().take(64).cloned());
            let types = layers.types().unwrap_or_default();
            for name in &types {
                match *name {
                    _ if layers.listed().is_some() => {
                        let listed: Vec<Value> = boundaries.iter().take(8).cloned().collect();
                        boundaries.extend(listed.iter().flat_map(invalid::near_misses));
                        break;
                    }
                    "boolean" => boundaries.extend([json!(true), json!(false)]),
                    "integer" => boundaries.extend(self.number_boundaries(&layers, true)),
                    "number" => boundaries.extend(self.number_boundaries(&layers, false)),
                    "string" => boundaries.extend(self.text_boundaries(&layers)),
                    "array" => boundaries.extend(self.array_boundaries(&layers, depth)),
                    "object" => boundaries.extend(self.object_boundaries(&layers, depth, None)),
                    _ => {}
                }
            }
        }
        boundaries.extend(invalid::of_each_type());
        distinct(boundaries, BOUNDARIES)
    }
}

/// How many iterations a location needs, so that each branch of a choice is likely to be taken.
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

/// These counts, one more and one less, in their order.
fn around(counts: impl IntoIterator<Item = usize>, most: usize) -> BTreeSet<usize> {
    let counts = counts.into_iter();
    let around = counts.flat_map(|at| [at.saturating_sub(1), at, at.saturating_add(1)]);
    around.filter(|at| *at <= most).collect()
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
    rng: Rng,
    /// Arguments that were accepted, and the author's examples.
    pool: Vec<Value>,
    /// There is a reference, so a type may be recursive.
    recursive: bool,
    /// How many values were cut off as too large since arguments were last accepted.
    cut: u32,
}

impl<'s> Generator<'s> {
    pub(super) fn new(
        tool: &str,
        types: &'s Value,
        published: &'s Value,
        (conditions, location): (&[PublishedCondition], &str),
        seed: u64,
    ) -> Self {
        Self {
            types,
            published,
            constants: Constants::of(conditions, location),
            rng: Rng::new(seed, tool),
            pool: Vec::new(),
            recursive: layers::refers(types),
            cut: 0,
        }
    }

    /// The generator of a tool on trial.
    pub(super) fn of(subject: &Subject<'s>, seed: u64) -> Self {
        Self::new(
            subject.name(),
            subject.tried.types(),
            subject.info.input_schema(),
            (subject.info.conditions(), subject.info.location()),
            seed,
        )
    }

    fn maker<'g>(&'g mut self, root: &'g Value) -> Maker<'g> {
        Maker {
            root,
            constants: &self.constants,
            rng: &mut self.rng,
            within: 0,
            made: 0,
            cut: &mut self.cut,
        }
    }

    /// Adds accepted arguments to the pool, to be varied.
    pub(super) fn accepted(&mut self, input: &Value) {
        self.cut = 0;
        if self.pool.len() < POOL {
            self.pool.push(input.clone());
        } else if self.rng.one_in(8) {
            let place = self.rng.below(POOL);
            if let Some(slot) = self.pool.get_mut(place) {
                slot.clone_from(input);
            }
        }
    }

    /// Generates arguments that are valid for the published schema, as far as it is understood.
    pub(super) fn right(&mut self) -> Value {
        let published = self.published;
        let whole = layers::list_of(published, "examples");
        if !whole.is_empty() && self.rng.one_in(4) {
            return self.rng.pick(whole).cloned().unwrap_or_default();
        }
        let mut input = self.maker(published).value(&[published], DEPTH);
        self.show(&mut input);
        if self.recursive && self.rng.one_in(4) {
            nesting::deepen(&mut input, &mut self.rng);
        }
        input
    }

    /// Generates arguments that are valid for the types, as far as they are understood.
    pub(super) fn typed(&mut self) -> Value {
        let types = self.types;
        self.maker(types).value(&[types], DEPTH)
    }

    /// The author's examples of whole inputs, and of each argument.
    pub(super) fn examples(&self) -> Vec<Value> {
        let mut all = layers::list_of(self.published, "examples").to_vec();
        let properties = self.published.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let own = layers::list_of(schema, "examples").iter();
            all.extend(own.map(|example| json!({ name.as_str(): example })));
        }
        all
    }

    /// Replaces some arguments by the author's examples.
    fn show(&mut self, input: &mut Value) {
        let Some(members) = input.as_object_mut() else {
            return;
        };
        let properties = self.published.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let examples = layers::list_of(schema, "examples");
            if !examples.is_empty() && self.rng.one_in(2) {
                let example = self.rng.pick(examples).cloned();
                members.extend(example.map(|example| (name.clone(), example)));
            }
        }
    }

    /// Generates one more input: valid, nearly valid, or invalid.
    pub(super) fn next(&mut self) -> Value {
        match self.rng.below(16) {
            0..=5 => {
                let mut input = self.right();
                if self.rng.one_in(2) {
                    relation::relate(&mut input, &mut self.rng);
                }
                input
            }
            6..=9 => {
                let mut input = self.right();
                self.redraw(&mut input);
                input
            }
            10..=12 => {
                let Some(mut input) = self.rng.pick(&self.pool).cloned() else {
                    return self.typed();
                };
                if self.rng.one_in(2) {
                    self.redraw(&mut input);
                } else {
                    relation::relate(&mut input, &mut self.rng);
                }
                input
            }
            13 => {
                let mut input = self.typed();
                if self.rng.one_in(2) {
                    relation::relate(&mut input, &mut self.rng);
                }
                input
            }
            _ => {
                let mut input = self.right();
                invalid::spoil(&mut input, &mut self.rng);
                input
            }
        }
    }

    /// Generates one more input that is probably accepted: one that was, with an argument of another.
    pub(super) fn varied(&mut self) -> Value {
        let other = self.right();
        let Some(mut input) = self.rng.pick(&self.pool).cloned() else {
            return other;
        };
        let names: Vec<&String> = other
            .as_object()
            .into_iter()
            .flat_map(|all| all.keys())
            .collect();
        let name = self.rng.pick(&names).copied();
        if let (Some(name), Some(members)) = (name, input.as_object_mut())
            && let Some(value) = other.get(name)
        {
            members.insert(name.clone(), value.clone());
        }
        input
    }

    /// Replaces one argument by a random value of its type.
    fn redraw(&mut self, input: &mut Value) {
        let types = self.types;
        let drawn = self.typed();
        let names: Vec<&String> = types
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|all| all.keys())
            .collect();
        let (Some(name), Some(members)) = (self.rng.pick(&names).copied(), input.as_object_mut())
        else {
            return;
        };
        match drawn.get(name) {
            Some(value) => drop(members.insert(name.clone(), value.clone())),
            None => drop(members.shift_remove(name)),
        }
    }

    /// Generates values at every bound and just past it, each in arguments that are otherwise like `base`.
    pub(super) fn boundaries(&mut self, base: &Value) -> Vec<Value> {
        let (types, published) = (self.types, self.published);
        let mut boundaries = Vec::new();
        for root in [published, types] {
            let mut maker = self.maker(root);
            let layers = Layers::of(&[root], root, maker.rng, DEPTH);
            boundaries.extend(maker.combinations(&layers, base, DEPTH));
            boundaries.extend(maker.quotients(&layers, base, DEPTH));
            boundaries.extend(maker.object_boundaries(&layers, DEPTH, Some(base)));
        }
        boundaries.extend(self.lengths(base));
        distinct(boundaries, ALL_BOUNDARIES)
    }

    /// The base with lists of as many equal items as conditions and schema speak of, one more and one less: whatever is said of an
    /// item, it is said of all of them alike.
    fn lengths(&self, base: &Value) -> Vec<Value> {
        let mut inputs = Vec::new();
        let Some(members) = base.as_object() else {
            return inputs;
        };
        for (name, member) in members {
            let Some(items) = member.as_array() else {
                continue;
            };
            let schema = self
                .published
                .get("properties")
                .and_then(|all| all.get(name));
            let bound = |word| usize::try_from(schema?.get(word)?.as_u64()?).ok();
            let bounds = ["minItems", "maxItems"].into_iter().filter_map(bound);
            let counts = self.constants.counts(LARGEST).chain(bounds);
            let item = items.first().cloned().unwrap_or_else(|| json!(0));
            for count in around(counts, LARGEST) {
                let items = Value::Array(vec![item.clone(); count]);
                inputs.push(with(members, name, items));
            }
        }
        inputs
    }
}
