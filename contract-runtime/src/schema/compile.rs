//! Compiles a corrected schema to rules, and rejects what cannot be enforced.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::SchemaError;
use super::normalize::percent_decode;
use super::reader::{Reader, join, malformed, regex};
use super::rules::{ArrayRule, Combination, ObjectRule, Rule, RuleId, Rules, Types};
use super::vocabulary::{annotates, unenforced};

type Result<T> = std::result::Result<T, SchemaError>;

/// Reads the schema `root`, references included. Where it is `whole`, the author wrote all of it, so that
/// `#` means what it says; a part of a type that was put into a larger object means something else by it.
pub(crate) fn compile(root: &Value, whole: bool) -> Result<(Rules, RuleId)> {
    let mut compiler = Compiler {
        root,
        whole,
        rules: Vec::new(),
        pointers: Vec::new(),
        known: HashMap::default(),
        depth: 0,
    };
    let id = compiler.schema("", root)?;
    compiler.definitions()?;
    let Compiler {
        rules, pointers, ..
    } = compiler;
    let rules = Rules { list: rules };
    acyclic(&rules, &pointers)?;
    Ok((rules, id))
}

struct Compiler<'a> {
    root: &'a Value,
    whole: bool,
    rules: Vec<Rule>,
    /// The pointer of each rule, for messages.
    pointers: Vec<String>,
    /// By pointer; `None` while a bare reference is being followed.
    known: HashMap<String, Option<RuleId>, foldhash::fast::RandomState>,
    /// How many schemas this one stands in, references followed.
    depth: usize,
}

/// Deeper schemas are refused, before they take all of the stack. No value that the dispatcher reads is nested so deeply.
const DEEPEST: usize = 200;

impl<'a> Compiler<'a> {
    fn schema(&mut self, pointer: &str, schema: &'a Value) -> Result<RuleId> {
        if self.depth == DEEPEST {
            return Err(SchemaError::Depth {
                pointer: pointer.to_owned(),
                limit: DEEPEST,
            });
        }
        self.depth += 1;
        let id = self.schema_within(pointer, schema);
        self.depth -= 1;
        id
    }

    fn schema_within(&mut self, pointer: &str, schema: &'a Value) -> Result<RuleId> {
        match self.known.get(pointer) {
            Some(Some(id)) => return Ok(*id),
            Some(None) => {
                return Err(SchemaError::Cycle {
                    pointer: pointer.to_owned(),
                });
            }
            None => {}
        }
        let keywords = match schema {
            Value::Bool(true) => return Ok(self.reserve(pointer)),
            Value::Bool(false) => {
                let id = self.reserve(pointer);
                self.rules[id.0].types = Types::NONE;
                return Ok(id);
            }
            Value::Object(keywords) => keywords,
            _ => return Err(malformed(pointer, "a schema: an object, `true` or `false`")),
        };
        if let Some(keyword) = keywords.keys().find(|keyword| unenforced(keyword)) {
            return Err(SchemaError::Keyword {
                pointer: pointer.to_owned(),
                keyword: keyword.clone(),
            });
        }
        // Nothing but a reference: the rule is its target, which saves a step for every value.
        if keywords.contains_key("$ref")
            && keywords
                .keys()
                .all(|keyword| keyword == "$ref" || annotates(keyword))
        {
            self.known.insert(pointer.to_owned(), None);
            let id = self.reference(pointer, keywords)?;
            self.known.insert(pointer.to_owned(), id);
            return id.ok_or_else(|| malformed(pointer, "a reference"));
        }
        let id = self.reserve(pointer);
        let rule = self.rule(pointer, keywords)?;
        self.rules[id.0] = rule;
        Ok(id)
    }

    fn reserve(&mut self, pointer: &str) -> RuleId {
        let id = RuleId(self.rules.len());
        self.rules.push(Rule::TRUE);
        self.pointers.push(pointer.to_owned());
        self.known.insert(pointer.to_owned(), Some(id));
        id
    }

    /// Definitions reached by no reference of the root cannot exist here, but `$defs` inside a type can.
    fn definitions(&mut self) -> Result<()> {
        let root = self.root;
        let Some(Value::Object(definitions)) = root.get("$defs") else {
            return Ok(());
        };
        for (name, definition) in definitions {
            self.schema(&join("/$defs", name), definition)?;
        }
        Ok(())
    }

    fn reference(
        &mut self,
        pointer: &str,
        keywords: &Map<String, Value>,
    ) -> Result<Option<RuleId>> {
        let Some(value) = keywords.get("$ref") else {
            return Ok(None);
        };
        let Value::String(target) = value else {
            return Err(malformed(&join(pointer, "$ref"), "a string"));
        };
        let unresolved = || SchemaError::Reference {
            pointer: pointer.to_owned(),
            target: target.clone(),
        };
        let path = target
            .strip_prefix('#')
            .and_then(percent_decode)
            .filter(|path| self.admits(path))
            .ok_or_else(unresolved)?;
        let schema = self.root.pointer(&path).ok_or_else(unresolved)?;
        self.schema(&path, schema).map(Some)
    }

    /// Only what is surely a schema: a reference into `examples` would read data as one.
    fn admits(&self, path: &str) -> bool {
        let named = path.starts_with("/$defs/") || path.starts_with("/properties/");
        named || (self.whole && path.is_empty())
    }

    fn rule(&mut self, pointer: &str, keywords: &'a Map<String, Value>) -> Result<Rule> {
        let read = Reader { pointer, keywords };
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
        const KEYWORDS: [&str; 8] = [
            "minItems",
            "maxItems",
            "uniqueItems",
            "prefixItems",
            "items",
            "contains",
            "minContains",
            "maxContains",
        ];
        read.when(&KEYWORDS, || {
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
        const KEYWORDS: [&str; 10] = [
            "properties",
            "required",
            "patternProperties",
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
        ];
        read.when(&KEYWORDS, || {
            let properties = self.map(read, "properties")?;
            let mut patterns = Vec::new();
            for (pattern, id) in self.map(read, "patternProperties")? {
                let place = join(&join(read.pointer, "patternProperties"), &pattern);
                patterns.push((regex(&place, &pattern)?, id));
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
        const KEYWORDS: [&str; 8] = [
            "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
        ];
        read.when(&KEYWORDS, || {
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
        self.schema(&join(read.pointer, keyword), schema).map(Some)
    }

    fn list(&mut self, read: &Reader<'a, '_>, keyword: &str) -> Result<Vec<RuleId>> {
        let place = join(read.pointer, keyword);
        match read.get(keyword) {
            None => Ok(Vec::new()),
            Some(Value::Array(schemas)) if !schemas.is_empty() => schemas
                .iter()
                .enumerate()
                .map(|(index, schema)| self.schema(&format!("{place}/{index}"), schema))
                .collect(),
            Some(_) => Err(malformed(&place, "an array of schemas, not empty")),
        }
    }

    fn map(&mut self, read: &Reader<'a, '_>, keyword: &str) -> Result<Vec<(String, RuleId)>> {
        let place = join(read.pointer, keyword);
        match read.get(keyword) {
            None => Ok(Vec::new()),
            Some(Value::Object(schemas)) => schemas
                .iter()
                .map(|(name, schema)| Ok((name.clone(), self.schema(&join(&place, name), schema)?)))
                .collect(),
            Some(_) => Err(malformed(&place, "an object of schemas")),
        }
    }
}

/// Refuses schemas that apply themselves to the same value: following them would never end.
fn acyclic(rules: &Rules, pointers: &[String]) -> Result<()> {
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
                    let pointer = pointers.get(id).cloned().unwrap_or_default();
                    return Err(SchemaError::Cycle { pointer });
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
