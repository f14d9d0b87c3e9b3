//! A schema with the document that its references point into.

use serde_json::{Map, Value};

use contract_runtime::__family::{Decimal, percent_decode};

/// A schema, with the document in which its references lead somewhere.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Node<'s> {
    root: &'s Value,
    pub(super) schema: &'s Value,
    /// What it applies to the same value stands beside it already.
    pub(super) opened: bool,
}

impl<'s> Node<'s> {
    pub(in super::super) const fn root(root: &'s Value) -> Self {
        Self {
            root,
            schema: root,
            opened: false,
        }
    }

    /// Another schema of the same document.
    pub(in super::super) const fn at(self, schema: &'s Value) -> Self {
        Self {
            root: self.root,
            schema,
            opened: false,
        }
    }

    pub(super) const fn opened(mut self) -> Self {
        self.opened = true;
        self
    }

    /// The same schema has the same place, in whatever document.
    pub(super) fn address(self) -> usize {
        std::ptr::from_ref(self.schema).addr()
    }

    pub(super) fn keywords(self) -> Option<&'s Map<String, Value>> {
        self.schema.as_object()
    }

    pub(in super::super) fn keyword(self, name: &str) -> Option<&'s Value> {
        self.schema.get(name)
    }

    /// The schema that a keyword holds.
    pub(super) fn child(self, keyword: &str) -> Option<Self> {
        self.keyword(keyword).map(|schema| self.at(schema))
    }

    /// The schemas that a keyword holds in an array.
    pub(super) fn list(self, keyword: &str) -> impl Iterator<Item = Self> + use<'s> {
        let schemas = self.keyword(keyword).and_then(Value::as_array);
        schemas.into_iter().flatten().map(move |one| self.at(one))
    }

    /// The schemas that a keyword holds by name.
    pub(in super::super) fn map(
        self,
        keyword: &str,
    ) -> impl Iterator<Item = (&'s str, Self)> + use<'s> {
        let schemas = self.keyword(keyword).and_then(Value::as_object);
        schemas
            .into_iter()
            .flatten()
            .map(move |(name, one)| (name.as_str(), self.at(one)))
    }

    /// The schema of a property that is named, whatever else applies to it.
    pub(in super::super) fn property(self, name: &str) -> Option<Self> {
        let schema = self.keyword("properties")?.get(name)?;
        Some(self.at(schema))
    }

    /// The texts that a keyword lists.
    pub(in super::super) fn names(self, keyword: &str) -> impl Iterator<Item = &'s str> + use<'s> {
        let names = self.keyword(keyword).and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str)
    }

    /// What `$ref` leads to.
    pub(super) fn target(self) -> Option<Self> {
        let target = self.keyword("$ref")?.as_str()?;
        let path = percent_decode(target.strip_prefix('#')?)?;
        self.root.pointer(&path).map(|schema| self.at(schema))
    }

    /// Whether the two are the same text, notes and names of definitions included.
    pub(in super::super) fn is_written_like(self, other: Self) -> bool {
        self.schema == other.schema
    }

    pub(super) fn number(self, keyword: &str) -> Option<Decimal> {
        self.keyword(keyword)?.as_number().map(Decimal::of)
    }

    pub(super) fn count(self, keyword: &str) -> Option<u64> {
        self.number(keyword)?.integer_text()?.parse().ok()
    }

    pub(super) fn is_false(self) -> bool {
        self.schema == &Value::Bool(false)
    }

    /// Whether it is `true` or has no keyword at all.
    pub(super) fn is_anything(self) -> bool {
        match self.schema {
            Value::Bool(flag) => *flag,
            Value::Object(keywords) => keywords.is_empty(),
            _ => false,
        }
    }

    /// What a missing value stands for: `null` where nothing is said, as in an `Option`.
    pub(in super::super) fn default(self) -> &'s Value {
        let own = self.keyword("default");
        own.or_else(|| self.target()?.keyword("default"))
            .unwrap_or(&Value::Null)
    }
}

/// One more step of a JSON pointer (RFC 6901, section 3).
pub(super) fn step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Notes: keywords that neither restrict values nor change what others mean.
///
/// `format` is not among them. It restricts nothing by the standard, but here a type stands behind it that does.
pub(super) fn is_note(keyword: &str) -> bool {
    matches!(
        keyword,
        "$comment"
            | "$defs"
            | "$schema"
            | "title"
            | "description"
            | "default"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "examples"
    )
}
