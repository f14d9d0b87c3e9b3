//! Describes keywords that a dialect lacks, as short phrases for the value's description.

use serde_json::{Map, Value};

type Keywords = Map<String, Value>;

/// What restricts nothing that a model could get wrong, and is left out without a word.
pub(super) fn is_silent(keyword: &str, value: &Value) -> bool {
    let closed = matches!(keyword, "additionalProperties" | "unevaluatedProperties");
    keyword.starts_with('$')
        || keyword.starts_with("x-")
        || matches!(
            keyword,
            "title" | "description" | "deprecated" | "readOnly" | "writeOnly"
        )
        || (closed && value.is_boolean())
        || (keyword == "default" && value.is_null())
}

/// The phrases for `dropped`, in an order of their own: the same keywords always read the same.
///
/// Where there is no phrase for a keyword, it is given as it is: nothing is lost.
pub(super) fn phrases(dropped: &Keywords) -> Vec<String> {
    let mut said = Said {
        all: dropped,
        done: Vec::new(),
        phrases: Vec::new(),
    };
    said.scalars();
    said.sizes();
    said.lists();
    said.combinations();
    said.constants();
    let rest = dropped
        .iter()
        .filter(|(keyword, value)| {
            !said.done.contains(&keyword.as_str()) && !is_silent(keyword, value)
        })
        .map(|(keyword, value)| format!("{keyword}: {value}"));
    let rest: Vec<_> = rest.collect();
    said.phrases.extend(rest);
    said.phrases
}

struct Said<'k> {
    all: &'k Keywords,
    done: Vec<&'k str>,
    phrases: Vec<String>,
}

impl<'k> Said<'k> {
    fn take(&mut self, keyword: &'k str) -> Option<&'k Value> {
        let value = self.all.get(keyword)?;
        self.done.push(keyword);
        Some(value)
    }

    fn say(&mut self, keyword: &'k str, phrase: impl FnOnce(&Value) -> String) {
        if let Some(value) = self.take(keyword) {
            self.phrases.push(phrase(value));
        }
    }

    fn scalars(&mut self) {
        self.say("$ref", |target| {
            let target = target.as_str().unwrap_or_default();
            let name = target.rsplit('/').next().unwrap_or_default();
            format!("as `{name}`")
        });
        self.say("type", |types| match types {
            Value::Array(_) => listed(types, type_name, " or "),
            only => type_name(only),
        });
        self.say("const", |value| format!("exactly {value}"));
        self.say("enum", |values| {
            match values.as_array().map(Vec::as_slice) {
                Some([only]) => format!("exactly {only}"),
                Some(_) => format!("one of {}", listed(values, Value::to_string, ", ")),
                None => format!("enum: {values}"),
            }
        });
        self.numbers();
        self.say("multipleOf", |step| format!("a multiple of {step}"));
        self.say("pattern", |pattern| format!("matches `{}`", bare(pattern)));
        self.say("format", |format| format!("format {}", bare(format)));
    }

    fn numbers(&mut self) {
        let range = range(self.take("minimum"), self.take("maximum"), ["", ""]);
        self.phrases.extend(range);
        self.say("exclusiveMinimum", |low| format!("more than {low}"));
        self.say("exclusiveMaximum", |high| format!("less than {high}"));
    }

    fn sizes(&mut self) {
        for (low, high, units) in [
            ("minLength", "maxLength", [" character", " characters"]),
            ("minItems", "maxItems", [" item", " items"]),
            ("minProperties", "maxProperties", [" entry", " entries"]),
        ] {
            let range = range(self.take(low), self.take(high), units);
            self.phrases.extend(range);
        }
    }

    fn lists(&mut self) {
        if let Some(unique) = self.take("uniqueItems")
            && unique == true
        {
            self.phrases.push("no two items alike".to_owned());
        }
        self.contains();
        self.say("prefixItems", |items| {
            format!("items in this order: {}", listed(items, inner, ", "))
        });
        self.say("items", |items| format!("each item {}", inner(items)));
        self.say("required", |names| format!("with {}", quoted(names)));
        self.say("properties", |map| {
            members(map, |name, schema| format!("`{name}` {}", inner(schema)))
        });
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if self.all.get(keyword).is_some_and(Value::is_object) {
                self.say(keyword, |schema| {
                    format!("other keys hold {}", inner(schema))
                });
            }
        }
        self.say("propertyNames", |schema| format!("keys {}", inner(schema)));
        self.say("patternProperties", |map| {
            members(map, |name, schema| {
                format!("keys matching `{name}` hold {}", inner(schema))
            })
        });
    }

    fn contains(&mut self) {
        let Some(item) = self.take("contains") else {
            return;
        };
        let item = inner(item);
        let (low, high) = (self.take("minContains"), self.take("maxContains"));
        let low = low.and_then(Value::as_u64).unwrap_or(1);
        self.phrases.extend(match (low, high) {
            (0, None) => None,
            (1, None) => Some(format!("at least one item {item}")),
            (low, None) => Some(format!("at least {low} items {item}")),
            (0, Some(high)) => Some(format!("at most {high} items {item}")),
            (low, Some(high)) => Some(format!("{low} to {high} items {item}")),
        });
    }

    fn combinations(&mut self) {
        self.say("not", negated);
        for keyword in ["anyOf", "oneOf"] {
            self.say(keyword, |branches| {
                format!("either {}", listed(branches, inner, " or "))
            });
        }
        let parts = self.take("allOf").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            match part {
                Value::Object(keywords) => self.phrases.extend(phrases(keywords)),
                other => self.phrases.push(inner(other)),
            }
        }
        self.condition();
        self.say("dependentRequired", |map| {
            members(map, |name, needed| {
                format!("`{name}` only with {}", quoted(needed))
            })
        });
        self.say("dependentSchemas", |map| {
            members(map, |name, schema| {
                format!("with `{name}`: {}", inner(schema))
            })
        });
    }

    fn condition(&mut self) {
        let Some(condition) = self.take("if") else {
            return;
        };
        let condition = inner(condition);
        for (word, keyword) in [("if", "then"), ("unless", "else")] {
            self.say(keyword, |then| {
                format!("{word} {condition} then {}", inner(then))
            });
        }
    }

    fn constants(&mut self) {
        if self
            .all
            .get("default")
            .is_some_and(|value| !value.is_null())
        {
            self.say("default", |value| format!("default {value}"));
        }
        self.say("examples", |values| {
            format!("such as {}", listed(values, Value::to_string, ", "))
        });
    }
}

/// A schema inside a phrase.
fn inner(schema: &Value) -> String {
    match schema {
        Value::Object(keywords) => {
            let phrases = phrases(keywords);
            if phrases.is_empty() {
                return "anything".to_owned();
            }
            phrases.join(" and ")
        }
        Value::Bool(false) => "nothing".to_owned(),
        _ => "anything".to_owned(),
    }
}

fn negated(schema: &Value) -> String {
    let only = schema.as_object().filter(|keywords| keywords.len() == 1);
    match only.and_then(|keywords| keywords.iter().next()) {
        Some((keyword, value)) if keyword == "const" => format!("not {value}"),
        Some((keyword, list @ Value::Array(values))) if keyword == "enum" => {
            match values.as_slice() {
                [value] => format!("not {value}"),
                _ => format!("none of {}", listed(list, Value::to_string, ", ")),
            }
        }
        Some((keyword, value)) if keyword == "pattern" => {
            format!("does not match `{}`", bare(value))
        }
        Some((keyword, value)) if keyword == "type" && value == "null" => "not null".to_owned(),
        _ => match inner(schema).as_str() {
            "anything" => "no value at all".to_owned(),
            inner => format!("not ({inner})"),
        },
    }
}

fn type_name(name: &Value) -> String {
    match name.as_str() {
        Some(name @ ("integer" | "array" | "object")) => format!("an {name}"),
        Some("null") => "null".to_owned(),
        Some(name) => format!("a {name}"),
        None => name.to_string(),
    }
}

fn bare(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn quoted(names: &Value) -> String {
    listed(names, |name| format!("`{}`", bare(name)), ", ")
}

/// A phrase for each item.
fn listed(items: &Value, phrase: impl Fn(&Value) -> String, between: &str) -> String {
    let items = items.as_array().into_iter().flatten();
    items.map(phrase).collect::<Vec<_>>().join(between)
}

/// A phrase for each member.
fn members(map: &Value, phrase: impl Fn(&str, &Value) -> String) -> String {
    let members = map.as_object().into_iter().flatten();
    let phrases = members.map(|(name, value)| phrase(name, value));
    phrases.collect::<Vec<_>>().join(" and ")
}

/// The phrase for two ends, with the unit of one and of several.
fn range(low: Option<&Value>, high: Option<&Value>, units: [&str; 2]) -> Option<String> {
    let [one, several] = units;
    let unit = |count: &Value| {
        if count.as_u64() == Some(1) {
            one
        } else {
            several
        }
    };
    Some(match (low, high) {
        (Some(low), Some(high)) if low == high => format!("exactly {low}{}", unit(low)),
        (Some(low), Some(high)) => format!("{low} to {high}{}", unit(high)),
        (Some(low), None) => format!("at least {low}{}", unit(low)),
        (None, Some(high)) => format!("at most {high}{}", unit(high)),
        (None, None) => return None,
    })
}
