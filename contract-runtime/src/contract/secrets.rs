//! The arguments of a call whose values are shown nowhere.

use std::sync::Arc;

use serde_json::{Map, Value};

/// The arguments whose values are shown nowhere, by name.
#[derive(Clone, Debug)]
pub(crate) enum Secrets {
    /// The names that the author of a function declared.
    Declared(&'static [&'static str]),
    /// The names in the schema of a dynamic tool.
    Said(Arc<[String]>),
}

impl Secrets {
    pub(super) const NONE: Self = Self::Declared(&[]);

    pub(crate) fn said<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<String> = names.map(str::to_owned).collect();
        // Each call clones its secrets; an empty list is cloned without counting references.
        if names.is_empty() {
            return Self::NONE;
        }
        Self::Said(names.into())
    }

    /// Returns the values of the secrets among the arguments.
    pub(super) fn of<'a>(&self, sent: &'a Map<String, Value>) -> Vec<&'a Value> {
        let value = |name: &str| sent.get(name);
        match self {
            Self::Declared(names) => names.iter().filter_map(|name| value(name)).collect(),
            Self::Said(names) => names.iter().filter_map(|name| value(name)).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Declared(names) => names.is_empty(),
            Self::Said(names) => names.is_empty(),
        }
    }
}
