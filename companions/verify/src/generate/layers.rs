//! The keyword objects that apply to one location of a schema, references and branches followed.

use serde_json::{Map, Value};

use super::rng::Rng;
use crate::json::walk;

pub(super) type Keywords = Map<String, Value>;

/// All that is said of one place.
#[derive(Debug, Default)]
pub(super) struct Layers<'s> {
    pub(super) said: Vec<&'s Keywords>,
    /// `false` stands among them, so that nothing is right.
    pub(super) never: bool,
}

impl<'s> Layers<'s> {
    /// Takes one branch where there are several.
    pub(super) fn of(schemas: &[&'s Value], root: &'s Value, rng: &mut Rng, depth: usize) -> Self {
        let mut layers = Self::default();
        for schema in schemas {
            layers.add(schema, root, rng, depth, 16);
        }
        layers
    }

    fn add(
        &mut self,
        schema: &'s Value,
        root: &'s Value,
        rng: &mut Rng,
        depth: usize,
        follow: usize,
    ) {
        let Value::Object(keywords) = schema else {
            self.never |= *schema == Value::Bool(false);
            return;
        };
        // A reference to itself and nothing else would go round for ever.
        let Some(follow) = follow.checked_sub(1) else {
            return;
        };
        self.said.push(keywords);
        if let Some(target) = target(keywords, root) {
            self.add(target, root, rng, depth, follow);
        }
        for part in list(keywords, "allOf") {
            self.add(part, root, rng, depth, follow);
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = list(keywords, keyword);
            let flat: Vec<&Value> = branches.iter().filter(|branch| !refers(branch)).collect();
            let branch = match depth {
                0 if !flat.is_empty() => rng.pick(&flat).copied(),
                _ => rng.pick(branches),
            };
            if let Some(branch) = branch {
                self.add(branch, root, rng, depth, follow);
            }
        }
        if let Some(condition) = keywords.get("if") {
            let parts = if rng.one_in(2) {
                [Some(condition), keywords.get("then")]
            } else {
                [None, keywords.get("else")]
            };
            for part in parts.into_iter().flatten() {
                self.add(part, root, rng, depth, follow);
            }
        }
    }

    /// What each layer says with this keyword.
    pub(super) fn all<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'s Value> + 'a {
        self.said.iter().filter_map(move |layer| layer.get(keyword))
    }

    /// The values listed, where they are: those that every layer lists.
    pub(super) fn listed(&self) -> Option<Vec<&'s Value>> {
        let mut lists =
            self.said
                .iter()
                .filter_map(|layer| match (layer.get("const"), layer.get("enum")) {
                    (Some(only), _) => Some(vec![only]),
                    (None, Some(Value::Array(values))) => Some(values.iter().collect()),
                    _ => None,
                });
        let mut values: Vec<&Value> = lists.next()?;
        for list in lists {
            values.retain(|value| list.contains(value));
        }
        Some(values)
    }

    /// The types that a value may have; none, if nothing is said of it.
    pub(super) fn types(&self) -> Option<Vec<&'s str>> {
        let mut types: Option<Vec<&str>> = None;
        for said in self.all("type") {
            let names: Vec<&str> = match said {
                Value::String(name) => vec![name],
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                _ => continue,
            };
            types = Some(match types {
                None => names,
                Some(before) => before
                    .into_iter()
                    .filter_map(|one| match one {
                        "number" if !names.contains(&"number") && names.contains(&"integer") => {
                            Some("integer")
                        }
                        "integer" if names.contains(&"number") => Some("integer"),
                        _ => names.contains(&one).then_some(one),
                    })
                    .collect(),
            });
        }
        types.or_else(|| self.implied().map(|name| vec![name]))
    }

    /// The type that the keywords speak of, where none is named.
    fn implied(&self) -> Option<&'static str> {
        let speaks = |keywords: &[&str]| {
            self.said
                .iter()
                .any(|layer| keywords.iter().any(|one| layer.contains_key(*one)))
        };
        if speaks(&[
            "properties",
            "required",
            "additionalProperties",
            "minProperties",
        ]) {
            Some("object")
        } else if speaks(&["items", "prefixItems", "minItems", "maxItems", "contains"]) {
            Some("array")
        } else if speaks(&[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ]) {
            Some("number")
        } else if speaks(&["minLength", "maxLength", "pattern", "format"]) {
            Some("string")
        } else {
            None
        }
    }

    /// Whether a `not` of one of the simple kinds refuses the value.
    pub(super) fn refuses(&self, value: &Value) -> bool {
        self.all("not").any(
            |not| match (not.get("const"), not.get("enum"), not.get("type")) {
                (Some(only), _, _) => only == value,
                (_, Some(Value::Array(values)), _) => values.contains(value),
                (_, _, Some(Value::String(name))) => {
                    name == "null"
                        && value.is_null()
                        && not.as_object().is_some_and(|not| not.len() == 1)
                }
                _ => not.as_object().is_some_and(Map::is_empty),
            },
        )
    }

    /// The largest of what the layers say, as a count.
    pub(super) fn count(&self, keyword: &str, choose: fn(u64, u64) -> u64) -> Option<usize> {
        let counts = self.all(keyword).filter_map(Value::as_u64);
        counts
            .reduce(choose)
            .and_then(|count| usize::try_from(count).ok())
    }
}

/// What a reference refers to.
pub(super) fn target<'s>(keywords: &Keywords, root: &'s Value) -> Option<&'s Value> {
    let target = keywords.get("$ref")?.as_str()?;
    root.pointer(&contract_runtime::__family::percent_decode(
        target.strip_prefix('#')?,
    )?)
}

pub(super) fn list_of<'s>(schema: &'s Value, keyword: &str) -> &'s [Value] {
    schema
        .as_object()
        .map_or(&[], |keywords| list(keywords, keyword))
}

pub(super) fn list<'s>(keywords: &'s Keywords, keyword: &str) -> &'s [Value] {
    keywords
        .get(keyword)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Whether a reference stands anywhere in it.
pub(super) fn refers(schema: &Value) -> bool {
    let mut refers = false;
    walk(schema, "", &mut |_, part| {
        refers |= part.get("$ref").is_some();
    });
    refers
}
