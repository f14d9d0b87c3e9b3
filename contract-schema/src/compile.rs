//! Compiles a corrected schema to rules, and rejects what cannot be enforced.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::SchemaError;
use super::normalize::percent_decode;
use super::pointer::Pointer;
use super::reader::{Group, Groups, Reader, join, malformed, regex};
use super::rules::{ArrayRule, Combination, ObjectRule, Rule, RuleId, Rules, Types};
use super::vocabulary::{annotates, unenforced};

type Result<T> = std::result::Result<T, SchemaError>;

/// Reads the schema `root`, references included. Where it is `whole`, the author wrote all of it, so that
/// `#` means what it says; a part of a type that was put into a larger object means something else by it.
pub fn compile(root: &Value, whole: bool) -> Result<(Rules, RuleId)> {
    let mut compiler = Compiler {
        root,
        whole,
        rules: Vec::new(),
        known: refers(root).then(Known::default),
        depth: 0,
    };
    let id = compiler.schema(&Pointer::Root, root)?;
    compiler.definitions()?;
    let Compiler { rules, known, .. } = compiler;
    let rules = Rules { list: rules };
    if let Some(known) = known {
        acyclic(&rules).map_err(|id| SchemaError::Cycle {
            pointer: known.pointer(id, root),
        })?;
    }
    Ok((rules, id))
}

/// Checks that every keyword of a whole document can be enforced.
///
/// # Errors
///
/// Where one cannot.
pub fn check_schema(document: &Value) -> Result<()> {
    compile(document, true).map(drop)
}

/// Whether there is a reference anywhere, or data that looks like one.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords
            .iter()
            .any(|(keyword, value)| keyword == "$ref" || refers(value)),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

struct Compiler<'a> {
    root: &'a Value,
    whole: bool,
    rules: Vec<Rule>,
    /// What a reference may lead to; without references nothing is met twice, and nothing lies inside itself.
    known: Option<Known>,
    /// How many schemas this one stands in, references followed.
    depth: usize,
}

/// The rules by the addresses of their schemas; `None` while a bare reference is being followed.
#[derive(Default)]
struct Known(HashMap<usize, Option<RuleId>, foldhash::fast::RandomState>);

impl Known {
    fn key(schema: &Value) -> usize {
        std::ptr::from_ref(schema).addr()
    }

    /// The place of the schema that a rule was made of.
    fn pointer(&self, id: RuleId, root: &Value) -> String {
        let mut waiting = vec![(String::new(), root)];
        while let Some((pointer, schema)) = waiting.pop() {
            if self.0.get(&Self::key(schema)) == Some(&Some(id)) {
                return pointer;
            }
            match schema {
                Value::Object(members) => waiting.extend(
                    members
                        .iter()
                        .rev()
                        .map(|(key, value)| (join(&pointer, key), value)),
                ),
                Value::Array(items) => waiting.extend(
                    items
                        .iter()
                        .enumerate()
                        .rev()
                        .map(|(index, value)| (format!("{pointer}/{index}"), value)),
                ),
                _ => {}
            }
        }
        String::new()
    }
}

/// Deeper schemas are refused, before they take all of the stack. No value that the dispatcher reads is nested so deeply.
const DEEPEST: usize = 200;

impl<'a> Compiler<'a> {
    fn schema(&mut self, pointer: &Pointer<'_>, schema: &'a Value) -> Result<RuleId> {
        if self.depth == DEEPEST {
            return Err(SchemaError::Depth {
                pointer: pointer.to_string(),
                limit: DEEPEST,
            });
        }
        self.depth += 1;
        let id = self.schema_within(pointer, schema);
        self.depth -= 1;
        id
    }

    fn schema_within(&mut self, pointer: &Pointer<'_>, schema: &'a Value) -> Result<RuleId> {
        let known = self.known.as_ref();
        match known.and_then(|known| known.0.get(&Known::key(schema))) {
            Some(Some(id)) => return Ok(*id),
            Some(None) => {
                return Err(SchemaError::Cycle {
                    pointer: pointer.to_string(),
                });
            }
            None => {}
        }
        let keywords = match schema {
            Value::Bool(true) => return Ok(self.reserve(schema)),
            Value::Bool(false) => {
                let id = self.reserve(schema);
                self.rules[id.0].types = Types::NONE;
                return Ok(id);
            }
            Value::Object(keywords) => keywords,
            _ => return Err(malformed(pointer, "a schema: an object, `true` or `false`")),
        };
        if let Some(keyword) = keywords.keys().find(|keyword| unenforced(keyword)) {
            return Err(SchemaError::Keyword {
                pointer: pointer.to_string(),
                keyword: keyword.clone(),
            });
        }
        // Nothing but a reference: the rule is its target, which saves a step for every value.
        if self.known.is_some() && is_bare_reference(keywords) {
            self.learn(schema, None);
            let id = self.reference(pointer, keywords)?;
            self.learn(schema, id);
            return id.ok_or_else(|| malformed(pointer, "a reference"));
        }
        let id = self.reserve(schema);
        let rule = self.rule(pointer, keywords)?;
        self.rules[id.0] = rule;
        Ok(id)
    }

    fn reserve(&mut self, schema: &Value) -> RuleId {
        let id = RuleId(self.rules.len());
        self.rules.push(Rule::TRUE);
        self.learn(schema, Some(id));
        id
    }

    fn learn(&mut self, schema: &Value, id: Option<RuleId>) {
        if let Some(known) = &mut self.known {
            known.0.insert(Known::key(schema), id);
        }
    }

    /// Definitions reached by no reference of the root cannot exist here, but `$defs` inside a type can.
    fn definitions(&mut self) -> Result<()> {
        let root = self.root;
        let Some(Value::Object(definitions)) = root.get("$defs") else {
            return Ok(());
        };
        let within = Pointer::Root.key("$defs");
        for (name, definition) in definitions {
            self.schema(&within.key(name), definition)?;
        }
        Ok(())
    }

    fn reference(
        &mut self,
        pointer: &Pointer<'_>,
        keywords: &Map<String, Value>,
    ) -> Result<Option<RuleId>> {
        let Some(value) = keywords.get("$ref") else {
            return Ok(None);
        };
        let Value::String(target) = value else {
            return Err(malformed(&pointer.key("$ref"), "a string"));
        };
        let unresolved = || SchemaError::Reference {
            pointer: pointer.to_string(),
            target: target.clone(),
        };
        let path = target
            .strip_prefix('#')
            .and_then(percent_decode)
            .filter(|path| self.admits(path))
            .ok_or_else(unresolved)?;
        let schema = self.root.pointer(&path).ok_or_else(unresolved)?;
        self.schema(&Pointer::Target(&path), schema).map(Some)
    }

    /// Only what is surely a schema: a reference into `examples` would read data as one.
    fn admits(&self, path: &str) -> bool {
        let named = path.starts_with("/$defs/") || path.starts_with("/properties/");
        named || (self.whole && path.is_empty())
    }

    fn rule(&mut self, pointer: &Pointer<'_>, keywords: &'a Map<String, Value>) -> Result<Rule> {
        let read = Reader {
            pointer,
            keywords,
            groups: Groups::of(keywords),
        };
        Ok(Rule {
            types: read.types()?,
            values: read.values()?,
            number: read.number()?,
            text: read.text()?,
            array: self.array(&read)?,
            object: self.object(&read)?,
            combination: self.combination(&read)?,
        })
    }

    fn array(&mut self, read: &Reader<'a, '_>) -> Result<Option<Box<ArrayRule>>> {
        read.when(Group::Array, || {
            Ok(ArrayRule {
                min: read.count("minItems")?,
                max: read.count("maxItems")?,
                unique: read.flag("uniqueItems")?,
                prefix: self.list(read, "prefixItems")?,
                items: self.one(read, "items")?,
                contains: self.one(read, "contains")?,
                min_contains: read.count("minContains")?,
                max_contains: read.count("maxContains")?,
            })
        })
    }

    fn object(&mut self, read: &Reader<'a, '_>) -> Result<Option<Box<ObjectRule>>> {
        read.when(Group::Object, || {
            let properties = self.map(read, "properties")?;
            let mut patterns = Vec::new();
            for (pattern, id) in self.map(read, "patternProperties")? {
                let place = read.pointer.key("patternProperties");
                patterns.push((regex(&place.key(&pattern), &pattern)?, id));
            }
            let rule = ObjectRule {
                properties,
                required: read.names("required")?,
                patterns,
                additional: self.one(read, "additionalProperties")?,
                unevaluated: self.one(read, "unevaluatedProperties")?,
                names: self.one(read, "propertyNames")?,
                min: read.count("minProperties")?,
                max: read.count("maxProperties")?,
                dependent_required: read.name_lists("dependentRequired")?,
                dependent_schemas: self.map(read, "dependentSchemas")?,
                ..ObjectRule::default()
            };
            Ok(rule.indexed())
        })
    }

    fn combination(&mut self, read: &Reader<'a, '_>) -> Result<Option<Box<Combination>>> {
        read.when(Group::Combination, || {
            Ok(Combination {
                reference: self.reference(read.pointer, read.keywords)?,
                all: self.list(read, "allOf")?,
                any: self.list(read, "anyOf")?,
                one: self.list(read, "oneOf")?,
                not: self.one(read, "not")?,
                condition: self.one(read, "if")?,
                then: self.one(read, "then")?,
                otherwise: self.one(read, "else")?,
            })
        })
    }

    fn one(&mut self, read: &Reader<'a, '_>, keyword: &str) -> Result<Option<RuleId>> {
        let Some(schema) = read.get(keyword) else {
            return Ok(None);
        };
        self.schema(&read.pointer.key(keyword), schema).map(Some)
    }

    fn list(&mut self, read: &Reader<'a, '_>, keyword: &str) -> Result<Vec<RuleId>> {
        let place = read.pointer.key(keyword);
        match read.get(keyword) {
            None => Ok(Vec::new()),
            Some(Value::Array(schemas)) if !schemas.is_empty() => schemas
                .iter()
                .enumerate()
                .map(|(index, schema)| self.schema(&place.index(index), schema))
                .collect(),
            Some(_) => Err(malformed(&place, "an array of schemas, not empty")),
        }
    }

    fn map(&mut self, read: &Reader<'a, '_>, keyword: &str) -> Result<Vec<(String, RuleId)>> {
        let place = read.pointer.key(keyword);
        match read.get(keyword) {
            None => Ok(Vec::new()),
            Some(Value::Object(schemas)) => schemas
                .iter()
                .map(|(name, schema)| Ok((name.clone(), self.schema(&place.key(name), schema)?)))
                .collect(),
            Some(_) => Err(malformed(&place, "an object of schemas")),
        }
    }
}

fn is_bare_reference(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("$ref")
        && keywords
            .keys()
            .all(|keyword| keyword == "$ref" || annotates(keyword))
}

/// Refuses schemas that apply themselves to the same value: following them would never end.
fn acyclic(rules: &Rules) -> std::result::Result<(), RuleId> {
    let mut done = vec![false; rules.list.len()];
    for start in 0..rules.list.len() {
        let mut on_path = vec![start];
        let mut waiting = vec![parts(&rules.list[start])];
        if done[start] {
            continue;
        }
        while let Some(next) = waiting.last_mut() {
            match next.pop() {
                None => {
                    waiting.pop();
                    if let Some(left) = on_path.pop() {
                        done[left] = true;
                    }
                }
                Some(RuleId(id)) if on_path.contains(&id) => {
                    return Err(RuleId(id));
                }
                Some(RuleId(id)) if !done[id] => {
                    on_path.push(id);
                    waiting.push(parts(&rules.list[id]));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

/// The rules that are applied to the same value as `rule`.
fn parts(rule: &Rule) -> Vec<RuleId> {
    let combined = rule
        .combination
        .iter()
        .flat_map(|combination| combination.parts());
    let dependent = rule
        .object
        .iter()
        .flat_map(|object| &object.dependent_schemas);
    combined.chain(dependent.map(|(_, id)| *id)).collect()
}
