//! Parses a call written as one JSON object.

use std::fmt;

use contract_runtime::Registry;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::parse::{Step, value};

/// The keys under which a call stands in an object.
const NAMES: &[&str] = &["tool", "name", "action", "tool_name", "function"];
const ARGUMENTS: &[&str] = &[
    "arguments",
    "args",
    "parameters",
    "input",
    "action_input",
    "tool_args",
];

const NO_ARGUMENTS: &str = "the object names a tool but has no arguments; write them as a JSON object under `arguments`, or `{}` if the tool takes none";

/// The members of an object as they are written, equal ones too.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

impl Members {
    /// The value under one of the keys; `None` also where there are several.
    fn only(&self, keys: &[&str]) -> Option<&RawValue> {
        let mut found = self
            .0
            .iter()
            .filter(|(key, _)| keys.contains(&key.as_str()));
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }

    fn has(&self, keys: &[&str]) -> bool {
        self.0.iter().any(|(key, _)| keys.contains(&key.as_str()))
    }

    /// The first key that is not one of these.
    fn other_than(&self, keys: [&[&str]; 2]) -> Option<&str> {
        let mut all = self.0.iter().map(|(key, _)| key.as_str());
        all.find(|key| !keys.iter().any(|keys| keys.contains(key)))
    }
}

/// Reads a call that is an object with a name and arguments and nothing else. Returns it with the text after the object.
///
/// The meaning of another key is unknown; it may deny the call.
pub(super) fn from_object<'t>(text: &'t str, registry: &Registry) -> Option<(Step, &'t str)> {
    let (object, rest) = value(text).ok()?;
    let members: Members = serde_json::from_str(object).ok()?;
    let tool: String = serde_json::from_str(members.only(NAMES)?.get()).ok()?;
    if !is_name(&tool) {
        return Some((Step::Unclear(no_name(&tool)), rest));
    }
    if let Some(key) = members.other_than([NAMES, ARGUMENTS]) {
        return Some((Step::Unclear(no_part(key)), rest));
    }
    if !members.has(ARGUMENTS) {
        registry.tool(&tool)?;
        return Some((Step::Unclear(NO_ARGUMENTS.to_owned()), rest));
    }
    let written = members.only(ARGUMENTS)?.get();
    // Arguments as text are decoded once; others stay as they are written.
    let arguments = serde_json::from_str(written).unwrap_or_else(|_| written.to_owned());
    Some((Step::Call { tool, arguments }, rest))
}

pub(super) fn is_name(text: &str) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty() && text.chars().all(belongs)
}

pub(super) fn no_name(text: &str) -> String {
    format!(
        "`{}` is not the name of a tool; write the name of one of the tools exactly as given",
        text.escape_debug()
    )
}

fn no_part(key: &str) -> String {
    let mut shown: String = key.chars().take(LONGEST_KEY).collect();
    if shown.len() < key.len() {
        shown.push('…');
    }
    format!(
        "`{}` does not belong in an action; write an object with only `tool` and `arguments`",
        shown.escape_debug()
    )
}

/// The most characters that are shown of a key.
const LONGEST_KEY: usize = 40;
