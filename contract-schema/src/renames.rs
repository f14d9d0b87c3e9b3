//! Names of properties that a provider refuses, each with one that every provider accepts.

use std::collections::{BTreeMap, HashSet};

use super::rules::{ObjectRule, Rules};

/// The longest name that every provider accepts, in bytes.
const LONGEST: usize = 64;

/// What the hash of a name takes at the end of another, with its `_`.
const HASH: usize = 9;

/// The names of one schema's properties that a provider may refuse, with the names under which they are exported.
///
/// Both are accepted in a call, so a new name is never the name of a property anywhere in the schema. It depends on the names
/// alone, not on their order: an export stays as it is when properties are moved.
#[derive(Debug, Default)]
pub struct Renames {
    /// The name in the schema and the exported one.
    pairs: Vec<(String, String)>,
}

impl Renames {
    pub(super) const NONE: &'static Self = &Self { pairs: Vec::new() };

    pub(super) fn of(rules: &Rules) -> Self {
        let objects = || rules.list.iter().filter_map(|rule| rule.object.as_deref());
        if objects().flat_map(names).all(is_plain) {
            return Self::default();
        }
        let mut taken: HashSet<String> = objects().flat_map(names).map(str::to_owned).collect();
        let mut by_new: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in &taken {
            if !is_plain(name) {
                by_new.entry(plain(name)).or_default().push(name.clone());
            }
        }
        let mut pairs = Vec::new();
        for (new, mut old) in by_new {
            if let ([only], true) = (old.as_slice(), is_plain(&new) && !taken.contains(&new)) {
                pairs.push((only.clone(), new.clone()));
                taken.insert(new);
                continue;
            }
            old.sort_unstable();
            for name in old {
                let new = hashed(&new, &name, &taken);
                taken.insert(new.clone());
                pairs.push((name, new));
            }
        }
        Self { pairs }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Those of names that `refused` says a provider refuses.
    #[must_use]
    pub fn only(&self, refused: impl Fn(&str) -> bool) -> Self {
        let pairs = self.pairs.iter().filter(|(old, _)| refused(old));
        Self {
            pairs: pairs.cloned().collect(),
        }
    }

    /// The exported name of a property.
    pub fn exported<'n>(&'n self, name: &'n str) -> &'n str {
        let pair = self.pairs.iter().find(|(old, _)| old == name);
        pair.map_or(name, |(_, new)| new)
    }

    /// The property that is exported under this name, where that is not its own.
    pub(super) fn own(&self, name: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(_, new)| new == name);
        pair.map(|(old, _)| old.as_str())
    }
}

fn names(object: &ObjectRule) -> impl Iterator<Item = &str> {
    let properties = object.properties.iter().map(|(name, _)| name);
    properties.chain(&object.required).map(String::as_str)
}

/// Whether every provider accepts a property of this name.
pub fn is_plain(name: &str) -> bool {
    let goes_on = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let begins = |byte: &u8| goes_on(*byte) && !byte.is_ascii_digit();
    name.as_bytes().first().is_some_and(begins)
        && name.len() <= LONGEST
        && name.bytes().all(goes_on)
}

/// `name` in plain characters; it may be too long.
fn plain(name: &str) -> String {
    let goes_on = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let kept = name.trim_matches(|c| !goes_on(c));
    let plain: String = kept
        .chars()
        .map(|c| if goes_on(c) { c } else { '_' })
        .collect();
    match plain.as_bytes().first() {
        None => "field".to_owned(),
        Some(byte) if byte.is_ascii_digit() => format!("_{plain}"),
        Some(_) => plain,
    }
}

/// `plain` with a hash of `name`, so that names that read alike in plain characters differ.
fn hashed(plain: &str, name: &str, taken: &HashSet<String>) -> String {
    let start = plain.get(..LONGEST - HASH).unwrap_or(plain);
    let mut hash = fnv(name);
    loop {
        let new = format!("{start}_{hash:08x}");
        if !taken.contains(&new) {
            return new;
        }
        hash = hash.wrapping_add(1);
    }
}

/// FNV-1a with 32 bits (Fowler, Noll, Vo: "FNV Hash", 1991): the same on every machine and in every version.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Renames, is_plain};
    use crate::InputSchema;

    fn renames(names: &[&str]) -> Vec<(String, String)> {
        let properties: Map<_, _> = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({})))
            .collect();
        let schema = json!({"type": "object", "properties": properties});
        let Renames { mut pairs } = Renames::of(InputSchema::from_object(schema).unwrap().rules());
        pairs.sort();
        pairs
    }

    fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let pairs = pairs.iter();
        let mut pairs: Vec<_> = pairs.map(|(a, b)| ((*a).into(), (*b).into())).collect();
        pairs.sort();
        pairs
    }

    #[test]
    fn a_name_keeps_what_every_provider_accepts_of_it() {
        let found = renames(&["plain", "$id", "filter.name", "tags[]", "9lives", "a b"]);
        let expected = [
            ("$id", "id"),
            ("filter.name", "filter_name"),
            ("tags[]", "tags"),
            ("9lives", "_9lives"),
            ("a b", "a_b"),
        ];
        assert_eq!(found, of(&expected));
        assert!(renames(&["plain", "_", "id"]).is_empty());
    }

    #[test]
    fn names_that_read_alike_stay_apart_in_any_order() {
        let long = |end: &str| "n".repeat(70) + end;
        let (one, other) = (long("1"), long("2"));
        let mut names = vec!["id", "$id", "a.b", "a-b", "", "é", &one, &other];
        let found = renames(&names);
        let mut new: Vec<&String> = found.iter().map(|(_, new)| new).collect();
        assert!(
            new.iter()
                .all(|new| is_plain(new) && !names.contains(&new.as_str())),
            "{found:?}"
        );
        new.sort();
        new.dedup();
        assert_eq!(new.len(), 7, "{found:?}");
        names.reverse();
        assert_eq!(renames(&names), found);
    }

    #[test]
    fn a_new_name_is_not_taken_from_a_property_elsewhere() {
        let schema = json!({"type": "object", "properties": {
            "a.b": {}, "inner": {"type": "object", "properties": {"a_b": {}}},
        }});
        let schema = InputSchema::from_object(schema).unwrap();
        let new = Renames::of(schema.rules()).exported("a.b").to_owned();
        assert!(new.starts_with("a_b_"), "{new}");
        let taken = json!({"type": "object", "properties": {"a.b": {}, "a_b": {}, (new.clone()): Value::Bool(true)}});
        let taken = InputSchema::from_object(taken).unwrap();
        assert_ne!(Renames::of(taken.rules()).exported("a.b"), new);
    }
}
