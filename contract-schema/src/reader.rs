//! Reads the values of keywords that contain no subschema, and says where they stand.

use std::fmt;

use regex_lite::Regex;
use serde_json::{Number, Value};

use super::decimal::Decimal;
use super::error::SchemaError;
use super::rules::{Limit, Types};

type Result<T> = std::result::Result<T, SchemaError>;

/// The value of one keyword, and where it stands.
pub(super) struct Reader<'a, 'p> {
    pub(super) pointer: Pointer<'p>,
    pub(super) value: &'a Value,
}

impl Reader<'_, '_> {
    pub(super) fn types(&self) -> Result<Types> {
        let names = match self.value {
            Value::Array(names) => names.as_slice(),
            only => std::slice::from_ref(only),
        };
        let types = names.iter().try_fold(Types::NONE, |all, name| {
            Some(all | Types::named(name.as_str()?)?)
        });
        types
            .filter(|all| *all != Types::NONE)
            .ok_or_else(|| self.malformed("the name of a JSON type, or an array of them"))
    }

    pub(super) fn values(&self) -> Result<Vec<Value>> {
        let values = self.value.as_array().cloned();
        values.ok_or_else(|| self.malformed("an array of values"))
    }

    pub(super) fn limit(&self) -> Result<Option<Limit>> {
        let limit = |number: &Number| Limit {
            written: number.clone(),
            exact: Decimal::of(number),
        };
        let number = self.value.as_number();
        number
            .map(|number| Some(limit(number)))
            .ok_or_else(|| self.malformed("a number"))
    }

    pub(super) fn pattern(&self) -> Result<Option<Regex>> {
        let pattern = self.value.as_str();
        let pattern = pattern.ok_or_else(|| self.malformed("a string"))?;
        regex(&self.pointer, pattern).map(Some)
    }

    pub(super) fn count(&self) -> Result<Option<usize>> {
        let number = self.value.as_number();
        number
            .and_then(|number| Decimal::of(number).integer_text()?.parse().ok())
            .map(Some)
            .ok_or_else(|| self.malformed("a number that is not negative, without a fraction"))
    }

    pub(super) fn flag(&self) -> Result<bool> {
        let flag = self.value.as_bool();
        flag.ok_or_else(|| self.malformed("`true` or `false`"))
    }

    pub(super) fn names(&self) -> Result<Vec<String>> {
        strings(self.value).ok_or_else(|| self.malformed("an array of strings"))
    }

    pub(super) fn name_lists(&self) -> Result<Vec<(String, Vec<String>)>> {
        let lists = self.value.as_object().and_then(|lists| {
            let lists = lists.iter();
            lists
                .map(|(name, list)| Some((name.clone(), strings(list)?)))
                .collect()
        });
        lists.ok_or_else(|| self.malformed("an object of arrays of strings"))
    }

    pub(super) fn malformed(&self, expected: &'static str) -> SchemaError {
        malformed(&self.pointer, expected)
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

/// A key as one step of a JSON pointer (RFC 6901, section 3).
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// `pointer` and one more step (RFC 6901, section 3).
pub fn join(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", escape(step))
}

/// A JSON pointer (RFC 6901) as a list of its steps, the last one first.
#[derive(Clone, Copy)]
pub(super) enum Pointer<'p> {
    Root,
    /// The target of a reference.
    Target(&'p str),
    Key(&'p Pointer<'p>, &'p str),
    Index(&'p Pointer<'p>, usize),
}

impl<'p> Pointer<'p> {
    pub(super) const fn key(&'p self, key: &'p str) -> Self {
        Self::Key(self, key)
    }

    pub(super) const fn index(&'p self, index: usize) -> Self {
        Self::Index(self, index)
    }
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Target(path) => f.write_str(path),
            Self::Index(above, index) => write!(f, "{above}/{index}"),
            Self::Key(above, key) => {
                write!(f, "{above}/{}", escape(key))
            }
        }
    }
}
