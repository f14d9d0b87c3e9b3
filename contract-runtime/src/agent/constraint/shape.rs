//! One alternative of a place: by the type of the value.

use std::collections::HashSet;

use serde_json::Value;

use super::convert::{Converter, Keywords};
use super::error::ConstraintError;
use super::keeps::keeps;
use super::rules::Body;
use super::scalar::count;

const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// Keywords that a grammar does not say at all.
const UNSAID: [&str; 11] = [
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
];

impl<'a> Converter<'a> {
    pub(super) fn shape(
        &mut self,
        all: &[&'a Keywords],
        at: &str,
    ) -> Result<Body, ConstraintError> {
        let mut types: HashSet<&str> = TYPES.into_iter().collect();
        for one in all {
            if let Some(own) = one.get("type") {
                types.retain(|name| named(own, name));
            }
        }
        let Some(refused) = self.refused(all, &mut types, at) else {
            return Ok(Body::never());
        };
        if let Some(values) = values(all) {
            let mut words = Vec::new();
            for value in values {
                let kept = keeps(value, all).unwrap_or_else(|| {
                    self.weaken(at, "enum", false);
                    true
                });
                if kept && fits(value, &types) && !refused.iter().any(|one| same(value, one)) {
                    words.push(Body::word(value.to_string()));
                }
            }
            return Ok(Body::either(words));
        }
        for keyword in UNSAID {
            if all.iter().any(|one| {
                one.get(keyword)
                    .is_some_and(|value| value != &Value::Bool(false))
            }) {
                self.weaken(at, keyword, false);
            }
        }
        let mut options = Vec::new();
        if types.contains("null") {
            options.push(Body::word("null"));
        }
        if types.contains("boolean") {
            let kept = [true, false]
                .into_iter()
                .filter(|flag| !refused.contains(&&Value::Bool(*flag)));
            options.extend(kept.map(|flag| Body::word(flag.to_string())));
        }
        if types.contains("number") || types.contains("integer") {
            options.push(self.number(all, !types.contains("number"), &refused, at));
        }
        if types.contains("string") {
            options.push(self.string(all, &refused, at));
        }
        if types.contains("array") {
            options.push(self.array(all, at)?);
        }
        if types.contains("object") {
            options.push(self.object(all, at)?);
        }
        Ok(Body::either(options))
    }

    /// Single values that `not` takes out; `None` where it takes out all of them.
    fn refused(
        &mut self,
        all: &[&'a Keywords],
        types: &mut HashSet<&str>,
        at: &str,
    ) -> Option<Vec<&'a Value>> {
        let mut refused = Vec::new();
        for one in all {
            let Some(not) = one.get("not") else { continue };
            let keywords = match not {
                Value::Bool(false) => continue,
                not => not.as_object()?,
            };
            let only = |keyword: &str| keywords.get(keyword).filter(|_| keywords.len() == 1);
            if keywords.is_empty() {
                return None;
            } else if let Some(kind) = only("type") {
                types.retain(|name| !named(kind, name));
            } else if let Some(value) = only("const") {
                refused.push(value);
            } else if let Some(Value::Array(values)) = only("enum") {
                refused.extend(values);
            } else {
                self.weaken(at, "not", false);
            }
        }
        let scalar = |value: &&Value| !value.is_array() && !value.is_object();
        if !refused.iter().all(scalar) {
            self.weaken(at, "not", false);
        }
        if refused.iter().any(|value| value.is_null()) {
            types.remove("null");
        }
        Some(refused)
    }

    fn array(&mut self, all: &[&'a Keywords], at: &str) -> Result<Body, ConstraintError> {
        let min = count(all, "minItems", true).unwrap_or(0);
        let max = count(all, "maxItems", false);
        self.counted(min, max, at, "maxItems");
        let prefix = |one: &&'a Keywords| match one.get("prefixItems") {
            Some(Value::Array(items)) => items.as_slice(),
            _ => &[],
        };
        let firsts = all.iter().map(|one| prefix(one).len()).max().unwrap_or(0);
        let rest: Vec<&'a Value> = all.iter().filter_map(|one| one.get("items")).collect();
        let rest = self.place(rest, &format!("{at}/*"))?;
        let mut tail = Body::sequence([Body::word(","), rest.clone()]).repeat(
            min.saturating_sub(firsts),
            max.map(|max| max.saturating_sub(firsts)),
        );
        if firsts == 0 {
            let more = Body::sequence([Body::word(","), rest.clone()])
                .repeat(min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
            let some = if max == Some(0) {
                Body::never()
            } else {
                Body::sequence([rest, more])
            };
            tail = if min == 0 { some.optional() } else { some };
        }
        for index in (0..firsts).rev() {
            let schemas = all
                .iter()
                .filter_map(|one| prefix(one).get(index).or_else(|| one.get("items")));
            let schemas: Vec<&'a Value> = schemas.collect();
            let item = self.place(schemas, &format!("{at}/{index}"))?;
            let comma = if index == 0 {
                Body::empty()
            } else {
                Body::word(",")
            };
            tail = Body::sequence([comma, item, tail]);
            if max.is_some_and(|max| index >= max) {
                tail = if index >= min {
                    Body::empty()
                } else {
                    Body::never()
                };
            } else if index >= min {
                tail = tail.optional();
            }
        }
        Ok(Body::sequence([Body::word("["), tail, Body::word("]")]))
    }
}

fn named(types: &Value, name: &str) -> bool {
    // Every integer is a number.
    let is = |own: &Value| own == name || (own == "number" && name == "integer");
    match types {
        Value::Array(names) => names.iter().any(is),
        only => is(only),
    }
}

/// The values that are on all lists, if there is a list.
fn values<'a>(all: &[&'a Keywords]) -> Option<Vec<&'a Value>> {
    let mut left: Option<Vec<&'a Value>> = None;
    for one in all {
        for keyword in ["enum", "const"] {
            let listed: Vec<&'a Value> = match (keyword, one.get(keyword)) {
                ("enum", Some(Value::Array(values))) => values.iter().collect(),
                ("const", Some(only)) => vec![only],
                _ => continue,
            };
            left = Some(match left {
                None => listed,
                Some(left) => left
                    .into_iter()
                    .filter(|value| listed.iter().any(|one| same(one, value)))
                    .collect(),
            });
        }
    }
    left
}

/// Equal as JSON Schema has it: `1` and `1.0` are.
fn same(left: &Value, right: &Value) -> bool {
    use crate::schema::Decimal;
    match (left.as_number(), right.as_number()) {
        (Some(left), Some(right)) => Decimal::of(left) == Decimal::of(right),
        _ => left == right,
    }
}

fn fits(value: &Value, types: &HashSet<&str>) -> bool {
    match value {
        Value::Null => types.contains("null"),
        Value::Bool(_) => types.contains("boolean"),
        Value::Number(number) => {
            let integral = crate::schema::Decimal::of(number).is_integral();
            types.contains("number") || (integral && types.contains("integer"))
        }
        Value::String(_) => types.contains("string"),
        Value::Array(_) => types.contains("array"),
        Value::Object(_) => types.contains("object"),
    }
}
