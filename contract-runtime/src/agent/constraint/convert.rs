//! From JSON Schema to a grammar: exactly where a grammar can say it, else weaker, and noted.
//!
//! A place of a document is held to several schemas at once: its own, those that it refers to and those of `allOf`. They
//! are gathered, alternatives are multiplied out, and what is left is one list of keyword objects for each alternative.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::ConstraintError;
use super::rules::{Body, Rules};
use super::weakened::Weakened;
use crate::schema::{SchemaError, compile, percent_decode};

pub(super) type Keywords = Map<String, Value>;

/// The most alternatives of one place.
const ALTERNATIVES: usize = 2_000;
/// The most places, and how deep they may lie in each other.
const PLACES: usize = 20_000;
/// How often a branch is chosen, in all.
const STEPS: usize = 200_000;
const DEPTH: usize = 40;

/// Where the arguments of each tool are described.
pub(super) const DEFINITIONS: &str = "#/$defs/";

pub(super) struct Converter<'a> {
    root: &'a Value,
    pub(super) rules: Rules,
    /// The rule of each set of keyword objects, by where they are in memory.
    known: HashMap<Vec<usize>, usize>,
    any: Option<usize>,
    depth: usize,
    steps: usize,
    pub(super) weakened: Vec<Weakened>,
}

/// What is said of one place: keyword objects that hold together, and lists of which one branch holds.
#[derive(Clone, Default)]
struct Gathered<'a> {
    all: Vec<&'a Keywords>,
    choices: Vec<&'a [Value]>,
}

/// Converts a whole schema.
pub(super) fn convert(root: &Value) -> Result<(Rules, Vec<Weakened>), ConstraintError> {
    // Nothing refers to itself without an end, and every keyword is one that a call enforces.
    compile(root, true)?;
    let mut converter = Converter {
        root,
        rules: Rules::default(),
        known: HashMap::new(),
        any: None,
        depth: 0,
        steps: 0,
        weakened: Vec::new(),
    };
    let start = converter.rules.reserve("root".to_owned());
    let body = converter.place(vec![root], "")?;
    converter.rules.set(start, body);
    let rules = converter.rules.finish();
    if rules.get(0).is_none_or(|start| start.body.is_never()) {
        return Err(ConstraintError::Nothing);
    }
    Ok((rules, converter.weakened))
}

fn address(keywords: &Keywords) -> usize {
    std::ptr::from_ref(keywords).addr()
}

impl<'a> Converter<'a> {
    pub(super) fn weaken(&mut self, at: &str, keyword: &str, only_gbnf: bool) {
        let one = Weakened::new(at, keyword, only_gbnf);
        if !self.weakened.contains(&one) {
            self.weakened.push(one);
        }
    }

    /// What may stand in a place that all these schemas describe.
    pub(super) fn place(
        &mut self,
        schemas: Vec<&'a Value>,
        at: &str,
    ) -> Result<Body, ConstraintError> {
        let mut gathered = Gathered::default();
        let mut at = at.to_owned();
        if !self.gather(schemas, &mut gathered, &mut at)? {
            return Ok(Body::never());
        }
        let Gathered { all, choices } = &gathered;
        let mut key: Vec<usize> = all.iter().map(|one| address(one)).collect();
        key.extend(choices.iter().map(|choice| choice.as_ptr().addr()));
        key.sort_unstable();
        key.dedup();
        if key.is_empty() {
            return Ok(self.any());
        }
        if let Some(rule) = self.known.get(&key) {
            return Ok(Body::Rule(*rule));
        }
        if self.rules.list.len() >= PLACES {
            return Err(ConstraintError::TooLarge {
                at,
                what: "places",
                limit: PLACES,
            });
        }
        if self.depth >= DEPTH {
            return Err(ConstraintError::TooLarge {
                at,
                what: "levels",
                limit: DEPTH,
            });
        }
        self.depth += 1;
        let rule = self.rules.reserve(name(&at));
        self.known.insert(key, rule);
        let mut alternatives = Vec::new();
        self.multiply(gathered, &at, &mut alternatives)?;
        let mut bodies = Vec::with_capacity(alternatives.len());
        for all in alternatives {
            bodies.push(self.shape(&all, &at)?);
        }
        self.rules.set(rule, Body::either(bodies));
        self.depth -= 1;
        Ok(Body::Rule(rule))
    }

    /// Whether anything is left.
    fn gather(
        &mut self,
        mut pending: Vec<&'a Value>,
        into: &mut Gathered<'a>,
        at: &mut String,
    ) -> Result<bool, ConstraintError> {
        while let Some(schema) = pending.pop() {
            let keywords = match schema {
                Value::Bool(false) => return Ok(false),
                Value::Object(keywords) => keywords,
                _ => continue,
            };
            if into.all.iter().any(|one| std::ptr::eq(*one, keywords)) {
                continue;
            }
            if let Some(Value::String(target)) = keywords.get("$ref") {
                pending.push(self.target(target)?);
                if let Some(tool) = target
                    .strip_prefix(DEFINITIONS)
                    .filter(|rest| !rest.contains('/'))
                {
                    tool.clone_into(at);
                }
            }
            if let Some(Value::Array(parts)) = keywords.get("allOf") {
                pending.extend(parts);
            }
            for keyword in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = keywords.get(keyword) {
                    if keyword == "oneOf" && !disjoint(branches) {
                        self.weaken(at, keyword, false);
                    }
                    into.choices.push(branches);
                }
            }
            if keywords.keys().any(|keyword| says(keyword)) {
                into.all.push(keywords);
            }
        }
        Ok(true)
    }

    fn target(&self, target: &str) -> Result<&'a Value, ConstraintError> {
        let found = target
            .strip_prefix('#')
            .and_then(percent_decode)
            .and_then(|pointer| self.root.pointer(&pointer));
        found.ok_or_else(|| {
            ConstraintError::Schema(SchemaError::Reference {
                pointer: String::new(),
                target: target.to_owned(),
            })
        })
    }

    /// Each way to choose a branch of every choice.
    fn multiply(
        &mut self,
        mut gathered: Gathered<'a>,
        at: &str,
        out: &mut Vec<Vec<&'a Keywords>>,
    ) -> Result<(), ConstraintError> {
        self.steps += 1;
        if out.len() >= ALTERNATIVES || self.steps >= STEPS {
            return Err(ConstraintError::TooLarge {
                at: at.to_owned(),
                what: "alternatives",
                limit: ALTERNATIVES,
            });
        }
        let Some(choice) = gathered.choices.pop() else {
            out.push(gathered.all);
            return Ok(());
        };
        for branch in choice {
            let mut with = gathered.clone();
            let mut at = at.to_owned();
            if self.gather(vec![branch], &mut with, &mut at)? {
                self.multiply(with, &at, out)?;
            }
        }
        Ok(())
    }

    /// Any JSON value.
    pub(super) fn any(&mut self) -> Body {
        if let Some(rule) = self.any {
            return Body::Rule(rule);
        }
        let rule = self.rules.reserve("value".to_owned());
        self.any = Some(rule);
        let value = Body::Rule(rule);
        let text = || super::scalar::any_text();
        let listed = |item: Body| {
            Body::sequence([
                item.clone(),
                Body::sequence([Body::word(","), item]).repeat(0, None),
            ])
            .optional()
        };
        let pair = Body::sequence([text(), Body::word(":"), value.clone()]);
        self.rules.set(
            rule,
            Body::either([
                Body::word("null"),
                Body::word("true"),
                Body::word("false"),
                super::scalar::any_number(),
                text(),
                Body::sequence([Body::word("["), listed(value), Body::word("]")]),
                Body::sequence([Body::word("{"), listed(pair), Body::word("}")]),
            ]),
        );
        Body::Rule(rule)
    }
}

/// Whether a keyword says anything of a value by itself.
fn says(keyword: &str) -> bool {
    !matches!(
        keyword,
        "$ref"
            | "$defs"
            | "$schema"
            | "$comment"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "format"
            | "contentEncoding"
            | "contentMediaType"
            | "contentSchema"
    )
}

/// The name of a rule, from the place where it stands first.
fn name(at: &str) -> String {
    let mut name: String = at
        .to_lowercase()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    name.truncate(48);
    let name = name.trim_matches('-');
    if name.is_empty() {
        "place".to_owned()
    } else {
        format!("p-{name}")
    }
}

/// Whether at most one branch accepts any value, as far as that can be seen: constants, types and constant properties.
fn disjoint(branches: &[Value]) -> bool {
    let apart = |left: &Value, right: &Value| {
        if let (Some(left), Some(right)) = (values(left), values(right)) {
            return !left.iter().any(|value| right.contains(value));
        }
        let kind = |schema: &Value| {
            schema
                .get("type")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        if let (Some(left), Some(right)) = (kind(left), kind(right))
            && left != right
        {
            let numbers = ["integer", "number"];
            return !(numbers.contains(&&*left) && numbers.contains(&&*right));
        }
        let (Some(properties), Some(others)) = (properties(left), properties(right)) else {
            return false;
        };
        let required = |schema: &Value, name: &str| {
            let names = schema.get("required").and_then(Value::as_array);
            names.is_some_and(|names| names.iter().any(|one| one == name))
        };
        properties.iter().any(|(name, schema)| {
            let Some(other) = others.get(name) else {
                // Externally tagged: the one property of each is unknown to the other.
                return required(left, name)
                    && right.get("additionalProperties") == Some(&Value::Bool(false));
            };
            let both = values(schema).zip(values(other));
            required(left, name)
                && required(right, name)
                && both.is_some_and(|(left, right)| !left.iter().any(|value| right.contains(value)))
        })
    };
    let pairs = branches.iter().enumerate();
    pairs.into_iter().all(|(index, left)| {
        branches
            .iter()
            .skip(index + 1)
            .all(|right| apart(left, right))
    })
}

fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

fn properties(schema: &Value) -> Option<&Keywords> {
    schema.get("properties").and_then(Value::as_object)
}
