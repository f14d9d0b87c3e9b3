//! Rewrites a schema as a union of plain ones: no references, no combinations, one place per keyword.
//!
//! What two schemas say together and one cannot is kept under `allOf`, for words: the result accepts at least what both accept.

use contract_schema::Decimal;
use contract_schema::normalize::percent_decode;
use contract_schema::vocabulary::subschemas;
use serde_json::{Map, Value, json};

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
    /// Splits `keywords` into plain schemas: it accepts what any of them accepts. Without a schema it accepts nothing.
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

/// Finds the targets of references in a schema.
type FindTargets = for<'s> fn(&'s Value, &mut Vec<&'s str>);

/// Whether the schema at `pointer` leads to itself by the references that `find` finds, however indirectly.
pub(super) fn is_recursive(root: &Value, pointer: &str, find: FindTargets) -> bool {
    let mut seen: Vec<String> = Vec::new();
    let mut waiting = vec![pointer.to_owned()];
    while let Some(next) = waiting.pop() {
        let Some(schema) = root.pointer(&next) else {
            continue;
        };
        let mut targets = Vec::new();
        find(schema, &mut targets);
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

/// All references.
pub(super) fn references<'s>(schema: &'s Value, found: &mut Vec<&'s str>) {
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

/// Keywords that mean nothing without each other.
const GROUPS: [&[&str]; 3] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["prefixItems", "items"],
];

/// What `left` and `right` both accept, with `left`'s words first; `None` if there is no such value.
///
/// Both are without `$ref`, `anyOf`, `oneOf` and `const`; each may have an `allOf` left over from another merge.
pub(super) fn both(left: &Keywords, right: &Keywords) -> Option<Keywords> {
    let mut merged = left.clone();
    let mut right = right.clone();
    close(&mut merged, &right)?;
    close(&mut right, left)?;
    let mut rest = Vec::new();
    for group in GROUPS {
        set_apart(group, &merged, &mut right, &mut rest);
    }
    for (keyword, value) in right {
        let Some(own) = merged.get_mut(&keyword) else {
            merged.insert(keyword, value);
            continue;
        };
        match merge_keyword(&keyword, own, &value) {
            Merged::Done => {}
            Merged::Never => return None,
            Merged::Apart => rest.push(json!({ keyword: value })),
        }
    }
    if let (Some(Value::Array(values)), Some(types)) = (merged.get("enum"), merged.get("type")) {
        let fitting = values.iter().filter(|value| has_type(types, value));
        let fitting: Vec<_> = fitting.cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        merged.insert("enum".to_owned(), Value::Array(fitting));
    }
    if !rest.is_empty() {
        let parts = merged.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(parts) = parts {
            parts.extend(rest);
        }
    }
    Some(merged)
}

/// Takes from an object the members that a closed one beside it does not admit.
fn close(open: &mut Keywords, closed: &Keywords) -> Option<()> {
    if closed.get("additionalProperties") != Some(&Value::Bool(false))
        || closed.contains_key("patternProperties")
    {
        return Some(());
    }
    let known = |name: &str| {
        let properties = closed.get("properties").and_then(Value::as_object);
        properties.is_some_and(|properties| properties.contains_key(name))
    };
    let required = open.get("required").and_then(Value::as_array);
    let lost = |name: &Value| !name.as_str().is_some_and(known);
    // Other types than objects remain, so this is a contradiction only where there are none.
    if required.is_some_and(|names| names.iter().any(lost))
        && open.get("type").is_some_and(|types| types == "object")
    {
        return None;
    }
    if let Some(Value::Object(properties)) = open.get_mut("properties") {
        properties.retain(|name, _| known(name));
    }
    Some(())
}

/// Moves the keywords of a group to `rest` where both sides have some of it and they differ.
fn set_apart(group: &[&str], left: &Keywords, right: &mut Keywords, rest: &mut Vec<Value>) {
    let has = |keywords: &Keywords| group.iter().any(|keyword| keywords.contains_key(*keyword));
    if !has(left) || !has(right) {
        return;
    }
    // `items` alone speaks of every item on both sides, and merges.
    let plain = |keywords: &Keywords| !keywords.contains_key("prefixItems");
    if group.contains(&"items") && plain(left) && plain(right) {
        return;
    }
    let mut apart = Keywords::new();
    for keyword in group {
        apart.extend(right.shift_remove_entry(*keyword));
    }
    if apart
        .iter()
        .any(|(keyword, value)| left.get(keyword) != Some(value))
    {
        rest.push(Value::Object(apart));
    }
}

enum Merged {
    Done,
    Never,
    /// Both stay, each on its own.
    Apart,
}

fn merge_keyword(keyword: &str, own: &mut Value, other: &Value) -> Merged {
    match keyword {
        "type" => return types(own, other),
        "enum" => return values(own, other),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            return tighter(own, other, |other, own| other > own);
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            return tighter(own, other, |other, own| other < own);
        }
        "description" => describe(own, other),
        "required" | "allOf" => extend(own, other),
        "properties" => properties(own, other),
        "items" => *own = conjunction(own, other),
        "uniqueItems" if other == true => *own = json!(true),
        "additionalProperties" | "unevaluatedProperties" => match (&*own, other) {
            (Value::Bool(true), _) | (_, Value::Bool(false)) => *own = other.clone(),
            (Value::Bool(false), _) | (_, Value::Bool(true)) => {}
            _ => *own = conjunction(own, other),
        },
        "title" | "default" | "examples" | "uniqueItems" => {}
        _ if own == other => {}
        _ => return Merged::Apart,
    }
    Merged::Done
}

fn conjunction(own: &Value, other: &Value) -> Value {
    if own == other {
        return own.clone();
    }
    json!({"allOf": [own, other]})
}

fn properties(own: &mut Value, other: &Value) {
    let (Value::Object(own), Value::Object(other)) = (own, other) else {
        return;
    };
    for (name, schema) in other {
        match own.get_mut(name) {
            Some(known) => *known = conjunction(known, schema),
            None => {
                own.insert(name.clone(), schema.clone());
            }
        }
    }
}

fn extend(own: &mut Value, other: &Value) {
    if let (Value::Array(own), Value::Array(other)) = (own, other) {
        for value in other {
            if !own.contains(value) {
                own.push(value.clone());
            }
        }
    }
}

fn describe(own: &mut Value, other: &Value) {
    if let (Value::String(text), Value::String(other)) = (own, other)
        && !text.contains(other.as_str())
    {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(other);
    }
}

fn tighter(own: &mut Value, other: &Value, is: impl Fn(Decimal, Decimal) -> bool) -> Merged {
    let number = |value: &Value| value.as_number().map(Decimal::of);
    match (number(other), number(own)) {
        (Some(found), Some(known)) => {
            if is(found, known) {
                *own = other.clone();
            }
            Merged::Done
        }
        _ => Merged::Apart,
    }
}

fn types(own: &mut Value, other: &Value) -> Merged {
    let integral = |list: &Value| named(list, "integer") && !named(list, "number");
    let number = |list: &Value| named(list, "number");
    let mut common: Vec<Value> = Vec::new();
    for name in names(own) {
        // An integer is a number.
        let name = if name == "number" && integral(other) {
            "integer"
        } else {
            name
        };
        if named(other, name) || (name == "integer" && number(other)) {
            let name = json!(name);
            if !common.contains(&name) {
                common.push(name);
            }
        }
    }
    match common.as_slice() {
        [] => return Merged::Never,
        [only] => *own = only.clone(),
        _ => *own = Value::Array(common),
    }
    Merged::Done
}

fn values(own: &mut Value, other: &Value) -> Merged {
    let (Value::Array(own), Value::Array(other)) = (own, other) else {
        return Merged::Apart;
    };
    own.retain(|value| other.iter().any(|other| same(value, other)));
    if own.is_empty() {
        return Merged::Never;
    }
    Merged::Done
}

/// The names in a `type` keyword.
pub(super) fn names(types: &Value) -> Vec<&str> {
    match types {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        only => only.as_str().into_iter().collect(),
    }
}

/// Whether `name` is in a `type` keyword.
pub(super) fn named(types: &Value, name: &str) -> bool {
    names(types).contains(&name)
}

/// Whether `value` has one of the types of a `type` keyword.
pub(super) fn has_type(types: &Value, value: &Value) -> bool {
    match value {
        Value::Null => named(types, "null"),
        Value::Bool(_) => named(types, "boolean"),
        Value::Number(number) => {
            named(types, "number") || (named(types, "integer") && Decimal::of(number).is_integral())
        }
        Value::String(_) => named(types, "string"),
        Value::Array(_) => named(types, "array"),
        Value::Object(_) => named(types, "object"),
    }
}

/// Equality as JSON Schema has it: `1` is `1.0` (2020-12 Core, section 4.2.2, "Instance Equality").
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Decimal::of(left) == Decimal::of(right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}
