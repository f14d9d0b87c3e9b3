//! Compiles a corrected schema to rules, and rejects what cannot be enforced.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::SchemaError;
use super::format::Format;
use super::normalize::percent_decode;
use super::reader::{Pointer, Reader, join, malformed, regex};
use super::rules::{Rule, RuleId, Rules, Types};
use super::vocabulary::{annotates, keyword, unenforced};

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
        // Nothing but a reference: the rule is its target, which saves a step for every value.
        if let Some(target) = keywords.get("$ref").filter(|_| is_bare_reference(keywords)) {
            self.learn(schema, None);
            let id = self.reference(pointer, target)?;
            self.learn(schema, Some(id));
            return Ok(id);
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

    fn reference(&mut self, pointer: &Pointer<'_>, value: &Value) -> Result<RuleId> {
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
        self.schema(&Pointer::Target(&path), schema)
    }

    /// Only what is surely a schema: a reference into `examples` would read data as one.
    fn admits(&self, path: &str) -> bool {
        let named = path.starts_with("/$defs/") || path.starts_with("/properties/");
        named || (self.whole && path.is_empty())
    }

    fn rule(&mut self, pointer: &Pointer<'_>, keywords: &'a Map<String, Value>) -> Result<Rule> {
        let mut rule = Rule::TRUE;
        for (keyword, value) in keywords {
            let read = Reader {
                pointer: pointer.key(keyword),
                value,
            };
            match keyword.as_str() {
                "type" => rule.types = read.types()?,
                "enum" => rule.values = Some(read.values()?),
                "minimum" => rule.number().minimum = read.limit()?,
                "maximum" => rule.number().maximum = read.limit()?,
                "exclusiveMinimum" => rule.number().above = read.limit()?,
                "exclusiveMaximum" => rule.number().below = read.limit()?,
                "multipleOf" => rule.number().multiple_of = read.limit()?,
                "minLength" => rule.text().min = read.count()?,
                "maxLength" => rule.text().max = read.count()?,
                "pattern" => rule.text().pattern = read.pattern()?,
                "format" => rule.text().format = value.as_str().and_then(Format::named),
                "minItems" => rule.array().min = read.count()?,
                "maxItems" => rule.array().max = read.count()?,
                "uniqueItems" => rule.array().unique = read.flag()?,
                "prefixItems" => rule.array().prefix = self.list(&read)?,
                "items" => rule.array().items = self.one(&read)?,
                "contains" => rule.array().contains = self.one(&read)?,
                "minContains" => rule.array().min_contains = read.count()?,
                "maxContains" => rule.array().max_contains = read.count()?,
                "properties" => rule.object().properties = self.map(&read)?,
                "required" => rule.object().required = read.names()?,
                "patternProperties" => {
                    for (pattern, id) in self.map(&read)? {
                        let regex = regex(&read.pointer.key(&pattern), &pattern)?;
                        rule.object().patterns.push((regex, id));
                    }
                }
                "additionalProperties" => rule.object().additional = self.one(&read)?,
                "unevaluatedProperties" => rule.object().unevaluated = self.one(&read)?,
                "propertyNames" => rule.object().names = self.one(&read)?,
                "minProperties" => rule.object().min = read.count()?,
                "maxProperties" => rule.object().max = read.count()?,
                "dependentRequired" => rule.object().dependent_required = read.name_lists()?,
                "dependentSchemas" => rule.object().dependent_schemas = self.map(&read)?,
                "$ref" => rule.parts().reference = Some(self.reference(pointer, value)?),
                "allOf" => rule.parts().all = self.list(&read)?,
                "anyOf" => rule.parts().any = self.list(&read)?,
                "oneOf" => rule.parts().one = self.list(&read)?,
                "not" => rule.parts().not = self.one(&read)?,
                "if" => rule.parts().condition = self.one(&read)?,
                "then" => rule.parts().then = self.one(&read)?,
                "else" => rule.parts().otherwise = self.one(&read)?,
                keyword if unenforced(keyword) => {
                    return Err(SchemaError::Keyword {
                        pointer: pointer.to_string(),
                        keyword: keyword.to_owned(),
                    });
                }
                _ => {}
            }
        }
        if let Some(only) = keyword(keywords, "const") {
            let listed = rule.values.take();
            let is_listed = listed.is_none_or(|values| values.contains(only));
            rule.values = Some(if is_listed {
                vec![only.clone()]
            } else {
                Vec::new()
            });
        }
        if let Some(object) = &mut rule.object {
            object.derive();
        }
        Ok(rule)
    }

    fn one(&mut self, read: &Reader<'a, '_>) -> Result<Option<RuleId>> {
        self.schema(&read.pointer, read.value).map(Some)
    }

    fn list(&mut self, read: &Reader<'a, '_>) -> Result<Vec<RuleId>> {
        match read.value {
            Value::Array(schemas) if !schemas.is_empty() => schemas
                .iter()
                .enumerate()
                .map(|(index, schema)| self.schema(&read.pointer.index(index), schema))
                .collect(),
            _ => Err(read.malformed("an array of schemas, not empty")),
        }
    }

    fn map(&mut self, read: &Reader<'a, '_>) -> Result<Vec<(String, RuleId)>> {
        let schemas = read.value.as_object();
        let schemas = schemas.ok_or_else(|| read.malformed("an object of schemas"))?;
        schemas
            .iter()
            .map(|(name, schema)| Ok((name.clone(), self.schema(&read.pointer.key(name), schema)?)))
            .collect()
    }
}

fn is_bare_reference(keywords: &Map<String, Value>) -> bool {
    let mut all = keywords.keys();
    all.all(|keyword| keyword == "$ref" || annotates(keyword))
}

/// Refuses schemas that apply themselves to the same value: following them would never end.
fn acyclic(rules: &Rules) -> std::result::Result<(), RuleId> {
    let mut done = vec![false; rules.list.len()];
    for start in 0..rules.list.len() {
        let mut on_path = vec![start];
        let mut waiting = vec![rules.list[start].applied()];
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
                    waiting.push(rules.list[id].applied());
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}
