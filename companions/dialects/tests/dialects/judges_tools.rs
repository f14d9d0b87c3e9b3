//! Tools of every kind of type and condition, and arguments for them: what the judges of the dialects work with.

use contract_runtime::Status;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const LIMIT: u32 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Speed {
    /// As fast as it goes.
    VeryFast,
    /// Slowly.
    Slow,
    Off,
}

/// A shape.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Shape {
    /// A disk.
    Disk {
        /// In metres.
        radius: f64,
    },
    Box {
        width: u8,
        height: Option<u8>,
    },
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    x: i32,
    #[serde(default)]
    y: i16,
    label: Option<String>,
}

/// A tree of notes.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Note {
    text: String,
    next: Option<Box<Note>>,
}

/// Count things.
#[tool(read_only)]
#[pre(count > 0 && count <= LIMIT)]
#[pre((1..=9).contains(&small), "small must be a digit")]
#[allow(
    clippy::manual_is_multiple_of,
    reason = "the remainder is what is read"
)]
#[pre(even % 2 == 0)]
#[pre(wide >= 10)]
#[pre(other != 0)]
#[pre(offset > -5)]
pub(crate) fn numbers(count: u32, small: u8, even: u16, wide: u64, other: i64, offset: i32) -> u64 {
    u64::from(count)
        + u64::from(small)
        + u64::from(even)
        + wide
        + (other.unsigned_abs())
        + u64::from(offset.unsigned_abs())
}

/// Weigh things.
#[tool]
#[pre(mass > 0.0 && mass < 100.0)]
#[allow(
    clippy::manual_range_contains,
    reason = "the comparisons are what is read"
)]
#[pre(ratio >= 0.0 && ratio <= 1.0)]
#[pre(divisor != 0.0, "cannot divide by zero")]
#[pre(single > 0.5)]
pub(crate) fn floats(mass: f64, ratio: f64, divisor: f64, single: f32) -> f64 {
    mass * ratio / divisor + f64::from(single)
}

/// Write things.
#[tool]
#[pre(!name.is_empty() && name.chars().count() <= 4)]
#[pre(code.starts_with('a'), "must begin with a")]
#[pre(["x", "y", "z"].contains(&axis.as_str()))]
#[pre(bytes.len() <= 4)]
#[pre(word != "admin")]
pub(crate) fn texts(
    name: String,
    code: String,
    axis: String,
    bytes: String,
    word: String,
) -> String {
    format!("{name}{code}{axis}{bytes}{word}")
}

/// Collect things.
#[tool]
#[pre(!tags.is_empty() && tags.len() <= 3)]
#[pre(tags.iter().all(|tag| !tag.is_empty()))]
#[pre(sizes.len() >= 2)]
#[pre(sizes.iter().all(|size| *size > 0))]
pub(crate) fn lists(
    /// Short words.
    tags: Vec<String>,
    sizes: Vec<u8>,
    pair: (u8, bool),
) -> usize {
    tags.len() + sizes.len() + usize::from(pair.0)
}

/// Leave things out.
#[tool]
#[pre(limit > 0)]
#[pre(note.as_deref().is_none_or(|note| note.chars().count() < 4))]
#[pre(level.is_none_or(|level| level >= 3))]
pub(crate) fn optionals(
    #[arg(default = 50)] limit: u16,
    note: Option<String>,
    level: Option<u8>,
    speed: Option<Speed>,
    point: Option<Point>,
) -> String {
    format!("{limit}{note:?}{level:?}{speed:?}{point:?}")
}

/// Choose things.
#[tool]
#[pre(matches!(speed, Speed::VeryFast | Speed::Slow))]
#[pre(sure)]
pub(crate) fn choices(
    /// How fast.
    speed: Speed,
    other: Speed,
    sure: bool,
    shape: Shape,
) -> String {
    format!("{speed:?}{other:?}{sure}{shape:?}")
}

/// Draw things.
#[tool(destructive, idempotent = false, open_world = false)]
pub(crate) fn nested(
    /// Where it begins.
    from: Point,
    shapes: Vec<Shape>,
    to: Vec<Point>,
) -> String {
    format!("{from:?}{shapes:?}{to:?}")
}

/// Book a part of a day.
#[tool(title = "Book")]
#[pre(end > start, "the end must come after the start")]
#[pre(!all_day || start == 0)]
#[post(|minutes| *minutes > 0)]
pub(crate) fn relations(
    #[arg(example = 540, example = 600)] start: u16,
    #[arg(example = 600)] end: u16,
    all_day: bool,
) -> u16 {
    let _ = all_day;
    end - start
}

/// Do nothing.
#[tool]
pub(crate) fn nothing() {}

/// Keep notes.
#[tool]
pub(crate) fn recursive(
    /// The first note.
    note: Note,
) -> String {
    format!("{note:?}")
}

/// What every dialect can say.
pub(crate) fn registry() -> Registry {
    Registry::builder()
        .tool(numbers)
        .tool(floats)
        .tool(texts)
        .tool(lists)
        .tool(optionals)
        .tool(choices)
        .tool(nested)
        .tool(relations)
        .tool(nothing)
        .build()
        .unwrap()
}

/// The same and what lies inside itself.
pub(crate) fn with_recursion() -> Registry {
    Registry::builder().tool(recursive).build().unwrap()
}

/// A small generator, the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % end as u64).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

pub(crate) const TEXTS: [&str; 12] = [
    "",
    "a",
    "ab",
    "abcd",
    "abcde",
    "é",
    "ééé",
    "x",
    "y",
    "admin",
    "very-fast",
    "z9",
];

/// A value near the bounds of `schema`, mostly one that it accepts; objects have no keys but its own.
pub(crate) fn value(schema: &Value, root: &Value, random: &mut Random) -> Value {
    let Some(keywords) = schema.as_object() else {
        return json!(1);
    };
    if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
        return value(root.pointer(&target[1..]).unwrap(), root, random);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = keywords.get(keyword).and_then(Value::as_array) {
            let mut found = value(random.of(branches), root, random);
            // Of a tagged enum the members beside the tag.
            if let (Some(own), true) = (found.as_object_mut(), keywords.contains_key("properties"))
            {
                own.extend(object(keywords, root, random));
            }
            return found;
        }
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return random.of(values).clone();
    }
    if let Some(only) = keywords.get("const") {
        return only.clone();
    }
    let kind = match keywords.get("type") {
        Some(Value::Array(types)) => random.of(types).as_str().unwrap(),
        Some(only) => only.as_str().unwrap(),
        None => "integer",
    };
    match kind {
        "null" => Value::Null,
        "boolean" => json!(random.below(2) == 0),
        "integer" => integer(keywords, random),
        "number" => json!(*random.of(&[0.0, 0.5, 0.75, 1.0, 1.5, -1.0, 99.5, 100.0, -0.25])),
        "string" => json!(random.of(&TEXTS)),
        "array" => array(keywords, root, random),
        _ => Value::Object(object(keywords, root, random)),
    }
}

fn integer(keywords: &Map<String, Value>, random: &mut Random) -> Value {
    let mut near: Vec<i128> = vec![0, 1, 2, 3, 4, 9, 10, 12, 13, -4, -5];
    for keyword in ["minimum", "maximum"] {
        let bound = keywords
            .get(keyword)
            .and_then(Value::as_number)
            .and_then(serde_json::Number::as_i128);
        near.extend(
            bound
                .into_iter()
                .flat_map(|bound| [bound - 1, bound, bound + 1]),
        );
    }
    let one = *random.of(&near);
    i64::try_from(one).map_or_else(
        |_| u64::try_from(one).map_or(json!(0), Value::from),
        Value::from,
    )
}

fn array(keywords: &Map<String, Value>, root: &Value, random: &mut Random) -> Value {
    let prefix = keywords.get("prefixItems").and_then(Value::as_array);
    let mut items: Vec<Value> = prefix
        .into_iter()
        .flatten()
        .map(|item| value(item, root, random))
        .collect();
    if let Some(item) = keywords.get("items").filter(|item| item.is_object()) {
        items.extend((0..random.below(5)).map(|_| value(item, root, random)));
    }
    Value::Array(items)
}

fn object(keywords: &Map<String, Value>, root: &Value, random: &mut Random) -> Map<String, Value> {
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = keywords.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter_map(|(name, schema)| {
            // Now and then something required is missing.
            let keep = if is_required(name) {
                random.below(40) > 0
            } else {
                random.below(2) == 0
            };
            keep.then(|| (name.clone(), value(schema, root, random)))
        })
        .collect()
}

/// Arguments that the tool accepts, and arguments that it does not.
pub(crate) fn arguments(registry: &Registry, tool: &str, most: usize) -> (Vec<Value>, Vec<Value>) {
    let schema = registry.tool(tool).unwrap().input_schema().clone();
    let mut random = Random::new(7);
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for _ in 0..most {
        let given = value(&schema, &schema, &mut random);
        let call = ToolCall::new("1", tool, given.to_string());
        match runtime.block_on(registry.check(call)).status() {
            Status::Ok => accepted.push(given),
            _ => refused.push(given),
        }
    }
    (accepted, refused)
}
