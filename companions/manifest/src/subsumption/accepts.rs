//! Validates one value against one schema, with three answers: yes, no and unknown.

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::branch::Kind;
use super::node::{Node, is_note};
use contract_runtime::__family::Decimal;

/// Equality as JSON Schema has it: numbers by their value (2020-12 core, section 4.2.2).
pub(in super::super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => Decimal::of(one) == Decimal::of(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, value)| other.get(name).is_some_and(|other| equal(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}

/// Whether the schema accepts the value, as far as that is known here.
pub(super) fn accepts(node: Node<'_>, value: &Value) -> Option<bool> {
    if let Value::Bool(flag) = node.schema {
        return Some(*flag);
    }
    let keywords = node.keywords()?;
    all(keywords
        .iter()
        .map(|(keyword, argument)| one(node, keyword, argument, value)))
}

/// The answer of one keyword; yes, if it has nothing to say of such a value.
fn one(node: Node<'_>, keyword: &str, argument: &Value, value: &Value) -> Option<bool> {
    match keyword {
        "type" => return Some(Kind::of(value).is_named(argument)),
        "const" => return Some(equal(argument, value)),
        "enum" => return Some(argument.as_array()?.iter().any(|one| equal(one, value))),
        "$ref" | "allOf" | "anyOf" | "oneOf" | "not" | "if" => {
            return combination(node, keyword, value);
        }
        // They are judged with the keyword beside them.
        "then" | "else" | "minContains" | "maxContains" => return Some(true),
        _ if is_note(keyword) => return Some(true),
        _ if !SPEAK_OF_ONE_TYPE.contains(&keyword) => return None,
        _ => {}
    }
    match value {
        Value::Number(number) => of_number(node, keyword, Decimal::of(number)),
        Value::String(text) => of_text(node, keyword, argument, text),
        Value::Array(items) => of_array(node, keyword, items),
        Value::Object(members) => of_object(node, keyword, members),
        Value::Null | Value::Bool(_) => Some(true),
    }
}

const SPEAK_OF_ONE_TYPE: [&str; 25] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "prefixItems",
    "items",
    "contains",
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

fn combination(node: Node<'_>, keyword: &str, value: &Value) -> Option<bool> {
    let answers = node.list(keyword).map(|one| accepts(one, value));
    let child = |keyword| node.child(keyword).map(|one| accepts(one, value));
    match keyword {
        "$ref" => accepts(node.target()?, value),
        "allOf" => all(answers),
        "anyOf" => any(answers),
        "oneOf" => exactly_one(answers),
        "not" => child(keyword)?.map(|answer| !answer),
        _ => match child(keyword)? {
            Some(true) => child("then").unwrap_or(Some(true)),
            Some(false) => child("else").unwrap_or(Some(true)),
            None => None,
        },
    }
}

fn of_number(node: Node<'_>, keyword: &str, value: Decimal) -> Option<bool> {
    let limit = || node.number(keyword);
    Some(match keyword {
        "minimum" => value >= limit()?,
        "maximum" => value <= limit()?,
        "exclusiveMinimum" => value > limit()?,
        "exclusiveMaximum" => value < limit()?,
        "multipleOf" => value.is_multiple_of(&limit()?),
        _ => true,
    })
}

fn of_text(node: Node<'_>, keyword: &str, argument: &Value, text: &str) -> Option<bool> {
    let length = || u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    match keyword {
        "minLength" => Some(length() >= node.count(keyword)?),
        "maxLength" => Some(length() <= node.count(keyword)?),
        "pattern" => matches(argument.as_str()?, text),
        // What it refuses is known to the type behind it only.
        "format" => None,
        _ => Some(true),
    }
}

pub(super) fn matches(pattern: &str, text: &str) -> Option<bool> {
    Some(Regex::new(pattern).ok()?.is_match(text))
}

fn of_array(node: Node<'_>, keyword: &str, items: &[Value]) -> Option<bool> {
    let length = u64::try_from(items.len()).unwrap_or(u64::MAX);
    match keyword {
        "minItems" => Some(length >= node.count(keyword)?),
        "maxItems" => Some(length <= node.count(keyword)?),
        "uniqueItems" => {
            let repeats = |(at, item)| items.iter().skip(at + 1).any(|later| equal(item, later));
            let unique = node.keyword(keyword)?.as_bool()?;
            Some(!unique || !items.iter().enumerate().any(repeats))
        }
        "prefixItems" => all(node
            .list(keyword)
            .zip(items)
            .map(|(one, item)| accepts(one, item))),
        "items" => {
            let (rest, listed) = (node.child(keyword)?, node.list("prefixItems").count());
            all(items.iter().skip(listed).map(|item| accepts(rest, item)))
        }
        "contains" => contains(node, items),
        _ => Some(true),
    }
}

fn contains(node: Node<'_>, items: &[Value]) -> Option<bool> {
    let wanted = node.child("contains")?;
    let mut count = 0;
    for item in items {
        count += u64::from(accepts(wanted, item)?);
    }
    let most = node.count("maxContains").unwrap_or(u64::MAX);
    Some(count >= node.count("minContains").unwrap_or(1) && count <= most)
}

fn of_object(node: Node<'_>, keyword: &str, members: &Map<String, Value>) -> Option<bool> {
    let size = u64::try_from(members.len()).unwrap_or(u64::MAX);
    match keyword {
        "minProperties" => Some(size >= node.count(keyword)?),
        "maxProperties" => Some(size <= node.count(keyword)?),
        "required" => Some(node.names(keyword).all(|name| members.contains_key(name))),
        "properties" => all(node
            .map(keyword)
            .filter_map(|(name, one)| members.get(name).map(|value| accepts(one, value)))),
        "additionalProperties" => {
            let rest = node.child(keyword)?;
            all(members.iter().map(|(name, value)| {
                if is_named(node, name)? {
                    return Some(true);
                }
                accepts(rest, value)
            }))
        }
        "patternProperties" => all(node.map(keyword).flat_map(|(pattern, one)| {
            members.iter().map(move |(name, value)| {
                if matches(pattern, name)? {
                    return accepts(one, value);
                }
                Some(true)
            })
        })),
        "propertyNames" => {
            let names = node.child(keyword)?;
            all(members
                .keys()
                .map(|name| accepts(names, &Value::String(name.clone()))))
        }
        "dependentSchemas" => all(node
            .map(keyword)
            .filter(|(name, _)| members.contains_key(*name))
            .map(|(_, one)| accepts(one, &Value::Object(members.clone())))),
        // The rest depends on what other keywords have looked at.
        "dependentRequired" | "unevaluatedProperties" => None,
        _ => Some(true),
    }
}

/// Returns whether `properties` or `patternProperties` apply to a member.
fn is_named(node: Node<'_>, name: &str) -> Option<bool> {
    if node.property(name).is_some() {
        return Some(true);
    }
    any(node
        .map("patternProperties")
        .map(|(pattern, _)| matches(pattern, name)))
}

fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for answer in answers {
        match answer {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = false,
        }
    }
    known.then_some(true)
}

fn any(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(answers.map(|answer| answer.map(|answer| !answer))).map(|none| !none)
}

fn exactly_one(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let (mut holding, mut open) = (0, false);
    for answer in answers {
        holding += u32::from(answer == Some(true));
        open |= answer.is_none();
    }
    match (holding, open) {
        (2.., _) => Some(false),
        (_, true) => None,
        (holding, false) => Some(holding == 1),
    }
}
