//! Rewrites a schema for clients that do not resolve references: definitions in place of `$ref`, lists of values in place of
//! alternatives of one value each.
//!
//! VS Code, Claude Desktop, Cursor and others drop `$defs`. A definition stays only if it is recursive, or if the schema would
//! grow beyond its limit without it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::schema::normalize::{definition_name, references};
use crate::schema::vocabulary::{KeywordValue, annotates, describe, holds, subschemas};

type Keywords = Map<String, Value>;

/// A schema may have this many bytes, or [`GROWTH`] times its own, if that is more.
const BYTES: usize = 16_000;
const GROWTH: usize = 3;

/// Whether a schema as text may have something to rewrite. A reference that is resolved against an `$id` or at run time means
/// something else in another place, so such a schema stays as it is.
pub(super) fn may_apply(schema: &str) -> bool {
    let has = |keyword: &str| schema.contains(&format!("\"{keyword}\""));
    (has("$ref") || has("oneOf")) && !has("$id") && !has("$dynamicRef")
}

/// Returns the names of the definitions that stay behind references, because the schema would grow too long without them.
pub(crate) fn too_long(schema: &Value) -> Vec<String> {
    if !may_apply(&schema.to_string()) {
        return Vec::new();
    }
    let done = inlined(schema);
    let Some(kept) = done.get("$defs").and_then(Value::as_object) else {
        return Vec::new();
    };
    let recursive = recursive(kept);
    let names = kept.keys().filter(|name| !recursive.contains(*name));
    names.cloned().collect()
}

/// Returns the schema with its definitions in place of the references to them.
pub(super) fn inlined(schema: &Value) -> Value {
    let Value::Object(root) = schema else {
        return schema.clone();
    };
    let none = Keywords::new();
    let definitions = root.get("$defs").and_then(Value::as_object);
    let definitions = definitions.unwrap_or(&none);
    let bytes = |schema: &Value| schema.to_string().len();
    let own = bytes(schema);
    let without = own - root.get("$defs").map_or(0, bytes);
    let budget = BYTES.max(GROWTH * own).saturating_sub(without);
    let mut kept = recursive(definitions);
    loop {
        let mut inliner = Inliner {
            definitions,
            kept: &kept,
            budget,
            uses: BTreeMap::new(),
        };
        let done = inliner.root(root);
        let cost = |(_, (times, length)): &(&&str, &(usize, usize))| times * length;
        let costliest = inliner.uses.iter().max_by_key(cost);
        match costliest.filter(|_| inliner.budget == 0) {
            Some((name, _)) => kept.insert((*name).to_owned()),
            None => return Value::Object(done),
        };
    }
}

/// The definitions that lead to themselves.
fn recursive(definitions: &Keywords) -> BTreeSet<String> {
    let leads: BTreeMap<&str, BTreeSet<String>> = definitions
        .iter()
        .map(|(name, schema)| {
            let mut found = BTreeSet::new();
            references(schema, &mut |target| found.extend(definition_name(target)));
            (name.as_str(), found)
        })
        .collect();
    let is_recursive = |name: &&String| {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![name.as_str()];
        while let Some(next) = waiting.pop() {
            for target in leads.get(next).into_iter().flatten() {
                if reached.insert(target.as_str()) {
                    waiting.push(target);
                }
            }
        }
        reached.contains(name.as_str())
    };
    definitions.keys().filter(is_recursive).cloned().collect()
}

struct Inliner<'s> {
    definitions: &'s Keywords,
    /// The definitions that stay behind references.
    kept: &'s BTreeSet<String>,
    /// How many bytes may still be added; at zero, references stay.
    budget: usize,
    /// How often each definition was inlined, and its length.
    uses: BTreeMap<&'s str, (usize, usize)>,
}

impl<'s> Inliner<'s> {
    fn schema(&mut self, schema: &'s Value) -> Value {
        match schema {
            Value::Object(keywords) => Value::Object(listed(self.object(keywords))),
            other => other.clone(),
        }
    }

    /// The rewritten root. Its definitions are those that it still refers to.
    fn root(&mut self, root: &'s Keywords) -> Keywords {
        let own = root.iter().filter(|(keyword, _)| *keyword != "$defs");
        let own = own.map(|(keyword, value)| (keyword.clone(), self.value(keyword, value)));
        let mut root: Keywords = own.collect();
        let mut names = BTreeSet::new();
        for (keyword, value) in &root {
            let found = &mut |target: &str| names.extend(definition_name(target));
            subschemas(keyword, value).for_each(|below| references(below, found));
        }
        let mut used = BTreeMap::new();
        while let Some(name) = names.pop_first() {
            if let Some(definition) = self.definitions.get(&name)
                && !used.contains_key(&name)
            {
                let done = self.schema(definition);
                references(&done, &mut |target| names.extend(definition_name(target)));
                used.insert(name, done);
            }
        }
        if !used.is_empty() {
            root.insert("$defs".to_owned(), used.into_iter().collect());
        }
        root
    }

    /// Rewrites one schema, but for its alternatives of one value each.
    fn object(&mut self, keywords: &'s Keywords) -> Keywords {
        let mut node = match self.target(keywords) {
            Some(definition) => self.object(definition),
            None => Keywords::new(),
        };
        let is_inlined = !node.is_empty();
        // A name for one place, which would stand in several now; references by it are refused.
        node.shift_remove("$anchor");
        for (keyword, value) in keywords {
            let value = self.value(keyword, value);
            if !is_inlined {
                node.insert(keyword.clone(), value);
            } else if keyword != "$ref" {
                merge(&mut node, keyword, value);
            }
        }
        node
    }

    /// The definition that a reference leads to, if it is to be inlined.
    fn target(&mut self, keywords: &Keywords) -> Option<&'s Keywords> {
        let target = keywords.get("$ref")?.as_str()?;
        let name = definition_name(target)?;
        // A reference to a part of a definition stays.
        let is_whole = target.matches('/').count() == 2;
        if !is_whole || self.kept.contains(&name) {
            return None;
        }
        let (name, definition) = self.definitions.get_key_value(&name)?;
        let length = definition.to_string().len();
        self.budget = self.budget.saturating_sub(length);
        let (times, _) = self.uses.entry(name).or_insert((0, length));
        *times += 1;
        if self.budget == 0 {
            return None;
        }
        definition.as_object()
    }

    fn value(&mut self, keyword: &str, value: &'s Value) -> Value {
        match (holds(keyword), value) {
            (KeywordValue::Schema, schema) => self.schema(schema),
            (KeywordValue::List, Value::Array(schemas)) => {
                schemas.iter().map(|schema| self.schema(schema)).collect()
            }
            (KeywordValue::Map, Value::Object(schemas)) => {
                let schemas = schemas.iter();
                let schemas = schemas.map(|(name, schema)| (name.clone(), self.schema(schema)));
                Value::Object(schemas.collect())
            }
            (_, data) => data.clone(),
        }
    }
}

/// Adds a keyword that stood beside a reference: an annotation wins, a restriction holds as well.
fn merge(node: &mut Keywords, keyword: &str, value: Value) {
    if annotates(keyword) || (is_independent(keyword) && !node.contains_key(keyword)) {
        node.insert(keyword.to_owned(), value);
        return;
    }
    if let (Some(narrowed), Some(Value::Array(all))) =
        (values(keyword, &value), node.get_mut("enum"))
    {
        all.retain(|one| narrowed.contains(one));
        return;
    }
    let restriction = json!({ keyword: value });
    if let Some(Value::Array(all)) = node.get_mut("allOf") {
        all.push(restriction);
    } else {
        node.insert("allOf".to_owned(), json!([restriction]));
    }
}

/// Whether a keyword means the same beside any others.
fn is_independent(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "const"
            | "enum"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "minLength"
            | "maxLength"
            | "pattern"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "minProperties"
            | "maxProperties"
            | "not"
            | "anyOf"
    )
}

/// The values that `const` or `enum` lists.
fn values(keyword: &str, value: &Value) -> Option<Vec<Value>> {
    match (keyword, value) {
        ("const", value) => Some(vec![value.clone()]),
        ("enum", Value::Array(values)) => Some(values.clone()),
        _ => None,
    }
}

/// Replaces `oneOf` by `enum` where each alternative lists values, and moves what is said of them into the description.
///
/// ```text
/// {"oneOf": [{"const": "a", "description": "First."}, {"enum": ["b", "c"]}], "description": "Which."}
/// {"description": "Which. (\"a\": First)", "enum": ["a", "b", "c"]}
/// ```
fn listed(mut node: Keywords) -> Keywords {
    let Some(alternatives) = node.get("oneOf").and_then(alternatives) else {
        return node;
    };
    node.shift_remove("oneOf");
    let narrowed: Vec<_> = ["const", "enum"]
        .into_iter()
        .filter_map(|keyword| values(keyword, &node.shift_remove(keyword)?))
        .collect();
    let remains = |value: &&Value| narrowed.iter().all(|values| values.contains(value));
    let (mut all, mut phrases) = (Vec::new(), Vec::new());
    let mut kind = None;
    for (of_kind, values, text) in alternatives {
        kind = kind.or(of_kind);
        let values: Vec<_> = values.iter().filter(remains).cloned().collect();
        if let Some(text) = text.filter(|_| !values.is_empty()) {
            let shown: Vec<_> = values.iter().map(Value::to_string).collect();
            phrases.push(format!("{}: {text}", shown.join(", ")));
        }
        all.extend(values);
    }
    if let Some(kind) = kind {
        node.shift_insert(0, "type".to_owned(), kind);
    }
    let own = node.shift_remove("description");
    describe(&mut node, own.as_ref().and_then(Value::as_str), &phrases);
    node.insert("enum".to_owned(), Value::Array(all));
    node
}

type Alternative = (Option<Value>, Vec<Value>, Option<String>);

/// The type, the values and the description of each alternative; `None` if one is more than a list, or two share a value.
fn alternatives(one_of: &Value) -> Option<Vec<Alternative>> {
    let mut seen = Vec::new();
    let mut found: Vec<Alternative> = Vec::new();
    for alternative in one_of.as_array()? {
        let keywords = alternative.as_object()?;
        let own = ["type", "const", "enum", "description"];
        if !keywords
            .keys()
            .all(|keyword| own.contains(&keyword.as_str()))
        {
            return None;
        }
        let kind = keywords.get("type").cloned();
        let lists = keywords
            .iter()
            .find_map(|(keyword, value)| values(keyword, value))?;
        if keywords.contains_key("const") && keywords.contains_key("enum")
            || lists.iter().any(|value| seen.contains(value))
            || found.first().is_some_and(|(first, ..)| *first != kind)
        {
            return None;
        }
        seen.extend(lists.iter().cloned());
        let text = keywords.get("description").and_then(Value::as_str);
        found.push((kind, lists, text.map(str::to_owned)));
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests;
