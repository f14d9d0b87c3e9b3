//! What the schema says, by a validator that is not ours.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use contract_runtime::{Registry, Statistics, ToolInfo};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

pub(crate) enum Verdict {
    Valid,
    Invalid,
    /// The documented differences between a schema and a type.
    Undecided,
}

pub(crate) struct Judge {
    registry: Registry,
    validators: BTreeMap<String, jsonschema::Validator>,
}

impl Judge {
    pub(crate) fn new() -> Self {
        let registry = crate::tools::registry();
        let validators = registry
            .tools()
            .map(|tool| {
                let validator = jsonschema::draft202012::new(tool.input_schema());
                (tool.name().to_owned(), validator.expect("a legal schema"))
            })
            .collect();
        Self {
            registry,
            validators,
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn tool(&self, index: usize) -> ToolInfo<'_> {
        let count = self.registry.tools().len();
        self.registry
            .tools()
            .nth(index % count)
            .expect("the index is below the count")
    }

    pub(crate) fn verdict(&self, tool: &str, text: &str) -> Verdict {
        let Some(validator) = self.validators.get(tool) else {
            return Verdict::Undecided;
        };
        // Blank text and `null` mean no arguments.
        let blank = text
            .bytes()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        let text = if blank { "{}" } else { text };
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return Verdict::Invalid;
        };
        let value = if value.is_null() {
            serde_json::json!({})
        } else {
            value
        };
        // A schema sees one of two equal keys; the dispatcher refuses both.
        if serde_json::from_str::<Unique>(text).is_err() {
            return Verdict::Invalid;
        }
        if validator.is_valid(&value) {
            Verdict::Valid
        } else if validator.is_valid(&without_nulls(&value)) {
            // The dispatcher reads null in the place of an absent member; which members may be absent is its to say.
            Verdict::Undecided
        } else {
            Verdict::Invalid
        }
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members = members.map(|(name, value)| (name.clone(), without_nulls(value)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// How many calls have ended.
pub(crate) fn total(statistics: &Statistics) -> u64 {
    statistics.calls()
}

/// A JSON value without equal keys in any of its objects.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without equal keys")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            members.next_value::<Unique>()?;
            if !names.insert(name) {
                return Err(A::Error::custom("equal keys"));
            }
        }
        Ok(Unique)
    }
}
