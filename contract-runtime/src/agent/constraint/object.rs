//! Objects: named properties in their order, then others where the schema says so.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::convert::{Converter, Keywords};
use super::error::ConstraintError;
use super::pattern::pattern;
use super::regular::Regular;
use super::rules::Body;
use super::scalar::{any_text, count};

/// What a schema says about properties that it does not name.
enum Others<'a> {
    Refused,
    Unsaid,
    Schema(&'a Value),
}

fn others(one: &Keywords) -> Others<'_> {
    match one.get("additionalProperties") {
        Some(Value::Bool(false)) => Others::Refused,
        // An object with names is closed unless it says more: a call ignores what no type knows.
        None if one.contains_key("properties") => Others::Refused,
        None => Others::Unsaid,
        Some(schema) => Others::Schema(schema),
    }
}

fn map<'a>(one: &'a Keywords, keyword: &str) -> Option<&'a Keywords> {
    one.get(keyword).and_then(Value::as_object)
}

impl<'a> Converter<'a> {
    pub(super) fn object(
        &mut self,
        all: &[&'a Keywords],
        at: &str,
    ) -> Result<Body, ConstraintError> {
        let mut required: Vec<&'a str> = Vec::new();
        let mut names: Vec<&'a str> = Vec::new();
        for one in all {
            names.extend(
                map(one, "properties")
                    .into_iter()
                    .flat_map(Keywords::keys)
                    .map(String::as_str),
            );
            let list = one.get("required").and_then(Value::as_array);
            required.extend(list.into_iter().flatten().filter_map(Value::as_str));
        }
        names.extend(&required);
        let mut known: Vec<&'a str> = Vec::new();
        for name in names {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        let mut members = Vec::new();
        for name in &known {
            let value = self.property(all, name, &format!("{at}/{name}"))?;
            let key = Body::word(Value::from(*name).to_string());
            let member = Body::sequence([key, Body::word(":"), value]);
            match (member.is_never(), required.contains(name)) {
                (true, true) => return Ok(Body::never()),
                (true, false) => {}
                (false, required) => members.push((member, required)),
            }
        }
        let (min, max) = (
            count(all, "minProperties", true),
            count(all, "maxProperties", false),
        );
        let entry = self.entry(all, &known, at)?;
        let counted = min.is_some() || max.is_some();
        if counted && !known.is_empty() {
            self.weaken(at, "minProperties", false);
        }
        let (min, max) = if known.is_empty() {
            (min.unwrap_or(0), max)
        } else {
            (0, None)
        };
        let inner = if members.is_empty() {
            let more = Body::sequence([Body::word(","), entry.clone()])
                .repeat(min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
            let some = if max == Some(0) {
                Body::never()
            } else {
                Body::sequence([entry, more])
            };
            if min == 0 { some.optional() } else { some }
        } else {
            let more = Body::sequence([Body::word(","), entry]).repeat(0, None);
            self.ordered(&members, &more, at)
        };
        Ok(Body::sequence([Body::word("{"), inner, Body::word("}")]))
    }

    fn property(
        &mut self,
        all: &[&'a Keywords],
        name: &str,
        at: &str,
    ) -> Result<Body, ConstraintError> {
        let mut schemas: Vec<&'a Value> = Vec::new();
        for one in all {
            let own = map(one, "properties").and_then(|own| own.get(name));
            schemas.extend(own);
            let mut matched = own.is_some();
            for (text, schema) in map(one, "patternProperties").into_iter().flatten() {
                if regex_lite::Regex::new(text).is_ok_and(|regex| regex.is_match(name)) {
                    schemas.push(schema);
                    matched = true;
                }
            }
            if !matched {
                match one.get("additionalProperties") {
                    Some(Value::Bool(false)) => return Ok(Body::never()),
                    Some(schema) => schemas.push(schema),
                    None => {}
                }
            }
        }
        self.place(schemas, at)
    }

    /// A property that is not named.
    fn entry(
        &mut self,
        all: &[&'a Keywords],
        known: &[&str],
        at: &str,
    ) -> Result<Body, ConstraintError> {
        let inside = format!("{at}/*");
        let patterns: Vec<(&'a String, &'a Value)> = all
            .iter()
            .filter_map(|one| map(one, "patternProperties"))
            .flatten()
            .collect();
        let mut schemas = Vec::new();
        let mut open = true;
        for one in all {
            match others(one) {
                Others::Refused => open = false,
                Others::Schema(schema) => schemas.push(schema),
                Others::Unsaid => {}
            }
        }
        let mut options = Vec::new();
        if open {
            if !patterns.is_empty() {
                self.weaken(at, "patternProperties", false);
            }
            let key = self.key(all, at)?;
            options.push((key, self.place(schemas, &inside)?));
        } else if let [(text, schema)] = patterns.as_slice()
            && known.is_empty()
        {
            let key = pattern(text).map_or_else(
                || {
                    self.weaken(at, "patternProperties", false);
                    any_text()
                },
                |key| {
                    Body::token(Regular::sequence([
                        Regular::text("\""),
                        key,
                        Regular::text("\""),
                    ]))
                },
            );
            options.push((key, self.place(vec![schema], &inside)?));
        }
        let entry = options
            .into_iter()
            .map(|(key, value)| Body::sequence([key, Body::word(":"), value]));
        let entry = Body::either(entry);
        if !entry.is_never() {
            // No grammar without a memory refuses a key that stood before.
            self.weaken(at, "keys that differ", false);
        }
        Ok(entry)
    }

    fn key(&mut self, all: &[&'a Keywords], at: &str) -> Result<Body, ConstraintError> {
        static STRING: LazyLock<Value> = LazyLock::new(|| json!({ "type": "string" }));
        let mut names: Vec<&'a Value> = all
            .iter()
            .filter_map(|one| one.get("propertyNames"))
            .collect();
        if names.is_empty() {
            return Ok(any_text());
        }
        names.push(&STRING);
        self.place(names, &format!("{at}/(key)"))
    }

    /// The members in their order, each optional one perhaps left out, with commas between those that are there.
    fn ordered(&mut self, members: &[(Body, bool)], more: &Body, at: &str) -> Body {
        let comma = || Body::word(",");
        // What may follow when something stood before, and when nothing did.
        let mut after = more.clone();
        let mut first = match more {
            Body::Repeat(entry, ..) => match &**entry {
                Body::Sequence(parts) => {
                    let entry = Body::sequence(parts.iter().skip(1).cloned());
                    Body::sequence([entry, more.clone()]).optional()
                }
                _ => Body::empty(),
            },
            _ => Body::empty(),
        };
        for (index, (member, required)) in members.iter().enumerate().rev() {
            let rest = if matches!(
                after,
                Body::Sequence(_) | Body::Either(_) | Body::Repeat(..)
            ) && after != Body::empty()
            {
                let rule = self.rules.reserve(format!("rest-{index}-{}", at.len()));
                self.rules.set(rule, after);
                Body::Rule(rule)
            } else {
                after
            };
            let here = Body::sequence([member.clone(), rest.clone()]);
            let follows = Body::sequence([comma(), here.clone()]);
            (first, after) = if *required {
                (here, follows)
            } else {
                let left_out = Body::sequence([rest]);
                (
                    Body::either([here, first]),
                    Body::either([follows, left_out]),
                )
            };
        }
        first
    }
}
