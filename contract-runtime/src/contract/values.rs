//! The values of a violation, which violations of one call share.

use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The values of the parameters that a condition names, by name.
///
/// A clone shares them, and so do the [observed](crate::Outcome::observed) violations of one call: where several name a large
/// parameter, its value exists once.
///
/// ```
/// use contract_runtime::Values;
/// use serde_json::json;
///
/// let mut values = Values::new();
/// values.insert("cents", 900);
/// assert_eq!(values["cents"], 900);
/// assert_eq!(values.get("euros"), None);
/// assert_eq!(serde_json::to_value(&values).unwrap(), json!({"cents": 900}));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<(String, Arc<Value>)>);

impl Values {
    /// Creates an empty set of values.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a value, in the place of another of that name.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), Arc::new(value.into()));
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, before)) => *before = value,
            None => self.0.push((name, value)),
        }
    }

    /// Returns the value of this name, if there is one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter()
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Returns the names with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let all = self.0.iter();
        all.map(|(name, value)| (name.as_str(), &**value))
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces each value for which there is another.
    pub(crate) fn replace(&mut self, mut other: impl FnMut(&Value) -> Option<Value>) {
        for (_, value) in &mut self.0 {
            if let Some(other) = other(value) {
                *value = Arc::new(other);
            }
        }
    }

    /// Takes equal values of the same name from others.
    pub(super) fn share_with(&mut self, others: &Self) {
        for (name, value) in &mut self.0 {
            let same = others.0.iter().find(|(known, other)| {
                known == name && (Arc::ptr_eq(other, value) || other == value)
            });
            if let Some((_, same)) = same {
                *value = Arc::clone(same);
            }
        }
    }

    /// Returns about how many bytes the values take that are not shared.
    pub(super) fn own_bytes(&self) -> usize {
        let own = self
            .0
            .iter()
            .filter(|(_, value)| Arc::strong_count(value) == 1);
        own.map(|(_, value)| size(value)).sum()
    }

    /// About how many bytes they take where they are written down.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|(_, value)| size(value)).sum()
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => value.to_string().len(),
        _ => 0,
    }
}

impl Index<&str> for Values {
    type Output = Value;

    /// Returns the value of this name.
    ///
    /// # Panics
    ///
    /// If there is none; [`Values::get`] says so instead.
    fn index(&self, name: &str) -> &Value {
        let found = self.get(name);
        found.unwrap_or_else(|| panic!("the violation has no value of `{name}`"))
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        let has = |(name, value): (&str, &Value)| other.get(name) == Some(value);
        self.len() == other.len() && self.iter().all(has)
    }
}

impl From<Map<String, Value>> for Values {
    fn from(map: Map<String, Value>) -> Self {
        map.into_iter().collect()
    }
}

impl FromIterator<(String, Value)> for Values {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(values: I) -> Self {
        let mut all = Self::new();
        for (name, value) in values {
            all.insert(name, value);
        }
        all
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}
