//! Reads the keywords of one schema that contain no subschema.

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::decimal::Decimal;
use super::error::SchemaError;
use super::format::Format;
use super::pointer::Pointer;
use super::rules::{Limit, NumberRule, TextRule, Types};
use super::vocabulary::keyword;

type Result<T> = std::result::Result<T, SchemaError>;

/// Keywords that are read together, if one of them is there.
#[derive(Clone, Copy)]
pub(super) enum Group {
    Number,
    Text,
    Array,
    Object,
    Combination,
}

/// Which groups the keywords of one schema belong to, found in one pass over them.
pub(super) struct Groups(u8);

impl Groups {
    pub(super) fn of(keywords: &Map<String, Value>) -> Self {
        let groups = keywords.keys().filter_map(|keyword| group(keyword));
        Self(groups.fold(0, |all, group| all | 1 << group as u8))
    }

    fn has(&self, group: Group) -> bool {
        self.0 & 1 << group as u8 != 0
    }
}

fn group(keyword: &str) -> Option<Group> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Group::Number
        }
        "minLength" | "maxLength" | "pattern" | "format" => Group::Text,
        "minItems" | "maxItems" | "uniqueItems" | "prefixItems" | "items" | "contains"
        | "minContains" | "maxContains" => Group::Array,
        "properties"
        | "required"
        | "patternProperties"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas" => Group::Object,
        "$ref" | "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => Group::Combination,
        _ => return None,
    })
}

/// One schema object and where it stands.
pub(super) struct Reader<'a, 'p> {
    pub(super) pointer: &'p Pointer<'p>,
    pub(super) keywords: &'a Map<String, Value>,
    pub(super) groups: Groups,
}

impl<'a> Reader<'a, '_> {
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        keyword(self.keywords, name)
    }

    /// What `read` makes of a group, when one of its keywords is there.
    pub(super) fn when<T>(
        &self,
        group: Group,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Option<Box<T>>> {
        if self.groups.has(group) {
            return read().map(Box::new).map(Some);
        }
        Ok(None)
    }

    pub(super) fn types(&self) -> Result<Types> {
        let Some(value) = self.get("type") else {
            return Ok(Types::ALL);
        };
        let names = match value {
            Value::Array(names) => names.as_slice(),
            only => std::slice::from_ref(only),
        };
        names
            .iter()
            .try_fold(Types::NONE, |all, name| {
                Some(all | Types::named(name.as_str()?)?)
            })
            .filter(|all| *all != Types::NONE)
            .ok_or_else(|| self.malformed("type", "the name of a JSON type, or an array of them"))
    }

    pub(super) fn values(&self) -> Result<Option<Vec<Value>>> {
        let listed = match self.get("enum") {
            None => None,
            Some(Value::Array(values)) => Some(values),
            Some(_) => return Err(self.malformed("enum", "an array of values")),
        };
        Ok(match (listed, self.get("const")) {
            (None, None) => None,
            (Some(values), None) => Some(values.clone()),
            (None, Some(only)) => Some(vec![only.clone()]),
            (Some(values), Some(only)) => Some(
                values
                    .iter()
                    .filter(|value| *value == only)
                    .cloned()
                    .collect(),
            ),
        })
    }

    pub(super) fn number(&self) -> Result<Option<Box<NumberRule>>> {
        self.when(Group::Number, || {
            Ok(NumberRule {
                minimum: self.limit("minimum")?,
                maximum: self.limit("maximum")?,
                above: self.limit("exclusiveMinimum")?,
                below: self.limit("exclusiveMaximum")?,
                multiple_of: self.limit("multipleOf")?,
            })
        })
    }

    pub(super) fn text(&self) -> Result<Option<Box<TextRule>>> {
        self.when(Group::Text, || {
            let pattern = match self.get("pattern") {
                None => None,
                Some(Value::String(text)) => Some(regex(&self.pointer.key("pattern"), text)?),
                Some(_) => return Err(self.malformed("pattern", "a string")),
            };
            Ok(TextRule {
                min: self.count("minLength")?,
                max: self.count("maxLength")?,
                pattern,
                format: self
                    .get("format")
                    .and_then(Value::as_str)
                    .and_then(Format::named),
            })
        })
    }

    fn limit(&self, keyword: &str) -> Result<Option<Limit>> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(Limit {
                written: number.clone(),
                exact: Decimal::of(number),
            })),
            Some(_) => Err(self.malformed(keyword, "a number")),
        }
    }

    pub(super) fn count(&self, keyword: &str) -> Result<Option<usize>> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        value
            .as_number()
            .and_then(|number| Decimal::of(number).integer_text()?.parse().ok())
            .map(Some)
            .ok_or_else(|| {
                self.malformed(keyword, "a number that is not negative, without a fraction")
            })
    }

    pub(super) fn flag(&self, keyword: &str) -> Result<bool> {
        match self.get(keyword) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.malformed(keyword, "`true` or `false`")),
        }
    }

    pub(super) fn names(&self, keyword: &str) -> Result<Vec<String>> {
        let Some(value) = self.get(keyword) else {
            return Ok(Vec::new());
        };
        strings(value).ok_or_else(|| self.malformed(keyword, "an array of strings"))
    }

    pub(super) fn name_lists(&self, keyword: &str) -> Result<Vec<(String, Vec<String>)>> {
        let Some(value) = self.get(keyword) else {
            return Ok(Vec::new());
        };
        let lists = value.as_object().and_then(|lists| {
            lists
                .iter()
                .map(|(name, list)| Some((name.clone(), strings(list)?)))
                .collect()
        });
        lists.ok_or_else(|| self.malformed(keyword, "an object of arrays of strings"))
    }

    fn malformed(&self, keyword: &str, expected: &'static str) -> SchemaError {
        malformed(&self.pointer.key(keyword), expected)
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value
        .as_array()?
        .iter()
        .map(|one| one.as_str().map(str::to_owned))
        .collect()
}

/// Without anchors and with ASCII classes, as ECMA-262 has it.
pub(super) fn regex(pointer: &Pointer<'_>, pattern: &str) -> Result<Regex> {
    Regex::new(pattern).map_err(|error| SchemaError::Pattern {
        pointer: pointer.to_string(),
        pattern: pattern.to_owned(),
        reason: error.to_string(),
    })
}

pub(super) fn malformed(pointer: &Pointer<'_>, expected: &'static str) -> SchemaError {
    SchemaError::Malformed {
        pointer: pointer.to_string(),
        expected,
    }
}

/// `pointer` and one more step (RFC 6901, section 3).
pub fn join(pointer: &str, step: &str) -> String {
    let mut joined = String::with_capacity(pointer.len() + 1 + step.len());
    joined.push_str(pointer);
    joined.push('/');
    if step.contains(['~', '/']) {
        joined.push_str(&step.replace('~', "~0").replace('/', "~1"));
    } else {
        joined.push_str(step);
    }
    joined
}
