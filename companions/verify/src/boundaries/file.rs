//! The file of recorded inputs: one input per line, long texts abbreviated, readable in a review.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::Boundaries;
use crate::regressions;

/// Longer texts are abbreviated by the characters that they repeat.
const LONG: usize = 100;

/// The most parts of an abbreviated text; one with more is not recorded.
const PARTS: usize = 8;

/// The most repetitions of one part, whatever the file says.
const LONGEST: usize = 1 << 20;

/// The key of an abbreviated text: `{"$repeat": [["a", 4095], ["é", 1]]}`.
const REPEAT: &str = "$repeat";

/// Longer lists are abbreviated by the items that they repeat, with this key: `{"$items": [[0, 64]]}`.
const MANY: usize = 8;
const ITEMS: &str = "$items";

const ACCEPTS: &str = "accepts";
const REFUSES: &str = "refuses";

pub(super) fn load(path: &Path, tool: &str) -> Result<Boundaries, String> {
    let file = regressions::file(path, tool);
    let all = regressions::read(&file)?;
    let Some(own) = all.get(tool) else {
        return Ok(Boundaries::default());
    };
    let list = |name| {
        let inputs = own
            .get(name)
            .and_then(Value::as_array)
            .ok_or_else(|| format!("{}: `{tool}` has no list `{name}`", file.display()))?;
        Ok::<_, String>(inputs.iter().map(long).collect())
    };
    Ok(Boundaries {
        accepts: list(ACCEPTS)?,
        refuses: list(REFUSES)?,
    })
}

pub(super) fn save(path: &Path, tool: &str, boundaries: &Boundaries) -> Result<(), String> {
    let list = |inputs: &[Value]| inputs.iter().filter_map(short).collect::<Value>();
    let (accepts, refuses) = (list(&boundaries.accepts), list(&boundaries.refuses));
    let nothing = boundaries.all().next().is_none();
    let own = (!nothing).then(|| json!({ ACCEPTS: accepts, REFUSES: refuses }));
    regressions::replace(path, tool, own, render)
}

/// Members of each tool on lines of their own, and each input on one.
fn render(all: &Map<String, Value>) -> String {
    let mut text = String::from("{");
    for (place, (tool, boundaries)) in all.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n  {}: {{", json!(tool));
        for (place, (name, inputs)) in boundaries.as_object().into_iter().flatten().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let inputs = inputs.as_array().map_or(&[][..], Vec::as_slice);
            let lines: Vec<String> = inputs
                .iter()
                .map(|input| format!("\n      {input}"))
                .collect();
            let _ = write!(
                text,
                "{comma}\n    {}: [{}\n    ]",
                json!(name),
                lines.join(",")
            );
        }
        text.push_str("\n  }");
    }
    text.push_str("\n}\n");
    text
}

/// Abbreviates long texts; `None` if that is not possible.
fn short(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) if text.chars().nth(LONG).is_some() => {
            let mut parts: Vec<(char, usize)> = Vec::new();
            for letter in text.chars() {
                match parts.last_mut() {
                    Some((last, count)) if *last == letter => *count += 1,
                    _ => parts.push((letter, 1)),
                }
            }
            if parts.len() > PARTS {
                return None;
            }
            json!({ REPEAT: parts })
        }
        Value::Array(items) if items.len() > MANY => short_list(items)?,
        Value::Array(items) => Value::Array(items.iter().map(short).collect::<Option<_>>()?),
        Value::Object(members) if members.contains_key(REPEAT) || members.contains_key(ITEMS) => {
            return None;
        }
        Value::Object(members) => {
            let each = |(name, member): (&String, &Value)| Some((name.clone(), short(member)?));
            Value::Object(members.iter().map(each).collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// Abbreviates a list by the items that it repeats, if it does.
fn short_list(items: &[Value]) -> Option<Value> {
    let mut parts: Vec<(Value, usize)> = Vec::new();
    for item in items {
        let item = short(item)?;
        match parts.last_mut() {
            Some((last, count)) if *last == item => *count += 1,
            _ => parts.push((item, 1)),
        }
    }
    if parts.len() <= PARTS {
        return Some(json!({ ITEMS: parts }));
    }
    items.iter().map(short).collect()
}

fn long(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(long).collect(),
        Value::Object(members) => {
            if let Some(Value::Array(parts)) = members.get(REPEAT) {
                let part = |part: &Value| {
                    let count = usize::try_from(part.get(1)?.as_u64()?).ok()?;
                    Some(part.get(0)?.as_str()?.repeat(count.min(LONGEST)))
                };
                return parts.iter().filter_map(part).collect::<String>().into();
            }
            if let Some(Value::Array(parts)) = members.get(ITEMS) {
                let part = |part: &Value| {
                    let count = usize::try_from(part.get(1)?.as_u64()?).ok()?;
                    Some(vec![long(part.get(0)?); count.min(LONGEST)])
                };
                return parts.iter().filter_map(part).flatten().collect();
            }
            let each = |(name, member): (&String, &Value)| (name.clone(), long(member));
            members.iter().map(each).collect()
        }
        other => other.clone(),
    }
}
