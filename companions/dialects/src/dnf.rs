//! Rewrites a schema as a union of plain ones: no references, no combinations, one place per keyword.

use contract_schema::normalize::percent_decode;
use contract_schema::vocabulary::subschemas;
use serde_json::{Map, Value, json};

use crate::merge::both;

type Keywords = Map<String, Value>;

/// More alternatives than this are not written out.
const ALTERNATIVES: usize = 64;

/// Why a schema was not opened.
pub(super) enum Closed {
    /// It is inside itself.
    Recursive,
    /// It would be more than [`ALTERNATIVES`] schemas.
    TooMany,
    /// It refers to what is not there.
    Dangling,
}

/// What a reference points at, and under which pointer.
pub(super) fn resolve<'r>(root: &'r Value, target: &str) -> Option<(String, &'r Value)> {
    let pointer = target.strip_prefix('#').and_then(percent_decode)?;
    let schema = root.pointer(&pointer)?;
    Some((pointer, schema))
}

/// Opens schemas of one root.
pub(super) struct DnfBuilder<'r, 'o> {
    pub(super) root: &'r Value,
    /// The references that are being written out, from the outside in; those that are opened are added.
    pub(super) open: &'o mut Vec<String>,
}

impl DnfBuilder<'_, '_> {
    /// The plain schemas of which `keywords` accepts any; none if it accepts nothing.
    pub(super) fn alternatives(&mut self, keywords: &Keywords) -> Result<Vec<Keywords>, Closed> {
        let mut plain = keywords.clone();
        let mut groups: Vec<Vec<Keywords>> = Vec::new();
        let mut parts = Vec::new();
        for keyword in ["$ref", "allOf", "anyOf", "oneOf"] {
            parts.extend(plain.shift_remove_entry(keyword));
        }
        if let Some(only) = plain.shift_remove("const") {
            let single = Keywords::from_iter([("enum".to_owned(), json!([only]))]);
            groups.push(vec![single]);
        }
        for (keyword, value) in parts {
            match (keyword.as_str(), value) {
                ("$ref", target) => groups.push(self.target(&target)?),
                ("allOf", Value::Array(members)) => {
                    for member in &members {
                        groups.push(self.each(member)?);
                    }
                }
                (_, Value::Array(branches)) => {
                    let mut all = Vec::new();
                    for branch in &branches {
                        all.extend(self.each(branch)?);
                    }
                    groups.push(all);
                }
                _ => {}
            }
        }
        product(plain, groups)
    }

    fn each(&mut self, schema: &Value) -> Result<Vec<Keywords>, Closed> {
        match schema {
            Value::Object(keywords) => self.alternatives(keywords),
            Value::Bool(false) => Ok(Vec::new()),
            _ => Ok(vec![Keywords::new()]),
        }
    }

    fn target(&mut self, target: &Value) -> Result<Vec<Keywords>, Closed> {
        let target = target.as_str().unwrap_or_default();
        let (pointer, schema) = resolve(self.root, target).ok_or(Closed::Dangling)?;
        if self.open.contains(&pointer) {
            return Err(Closed::Recursive);
        }
        self.open.push(pointer);
        self.each(schema)
    }
}

fn product(plain: Keywords, groups: Vec<Vec<Keywords>>) -> Result<Vec<Keywords>, Closed> {
    let mut all = vec![plain];
    for group in groups {
        if all.len().saturating_mul(group.len()) > ALTERNATIVES {
            return Err(Closed::TooMany);
        }
        all = all
            .iter()
            .flat_map(|left| group.iter().filter_map(|right| both(left, right)))
            .collect();
    }
    Ok(all)
}

/// Whether the schema at `pointer` refers to itself, however indirectly.
pub(super) fn is_recursive(root: &Value, pointer: &str) -> bool {
    let mut seen: Vec<String> = Vec::new();
    let mut waiting = vec![pointer.to_owned()];
    while let Some(next) = waiting.pop() {
        let Some(schema) = root.pointer(&next) else {
            continue;
        };
        let mut targets = Vec::new();
        references(schema, &mut targets);
        for target in targets {
            let Some((found, _)) = resolve(root, target) else {
                continue;
            };
            // A reference to what surrounds it is a way back as well.
            if found == pointer || pointer.starts_with(&format!("{found}/")) {
                return true;
            }
            if !seen.contains(&found) {
                seen.push(found.clone());
                waiting.push(found);
            }
        }
    }
    false
}

fn references<'s>(schema: &'s Value, found: &mut Vec<&'s str>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if let Some(Value::String(target)) = keywords.get("$ref") {
        found.push(target);
    }
    // What a schema defines it does not use.
    for (keyword, value) in keywords.iter().filter(|(keyword, _)| *keyword != "$defs") {
        subschemas(keyword, value).for_each(|schema| references(schema, found));
    }
}
