//! Keywords for one location.

use serde_json::{Map, Value, json};

use super::merge::{also, conjoin, never};

/// The keywords of a schema.
pub(super) type Keywords = Map<String, Value>;

/// The values of one place that a predicate accepts, among those that its type accepts.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    /// Whether `null` is accepted; nothing is said by it of a place that admits none.
    pub(super) null: bool,
    /// What holds of every other value.
    pub(super) keywords: Keywords,
    /// Whether nothing else is accepted.
    pub(super) exact: bool,
}

impl Fragment {
    pub(super) fn new(keywords: Keywords, exact: bool) -> Self {
        Self {
            null: true,
            keywords,
            exact,
        }
    }

    pub(super) fn one(keyword: &str, value: Value) -> Self {
        Self::new(Map::from_iter([(keyword.to_owned(), value)]), true)
    }

    pub(super) fn always() -> Self {
        Self::new(Map::new(), true)
    }

    pub(super) fn never() -> Self {
        Self {
            null: false,
            ..Self::one("not", json!({}))
        }
    }

    /// None of what the fragment accepts.
    pub(super) fn not(keywords: Keywords) -> Self {
        Self::one("not", Value::Object(keywords))
    }

    /// One of these values.
    pub(super) fn among(mut values: Vec<Value>) -> Self {
        match (values.pop(), values.is_empty()) {
            (None, _) => Self::never(),
            (Some(only), true) => Self::one("const", only),
            (Some(last), false) => {
                values.push(last);
                Self::one("enum", Value::Array(values))
            }
        }
    }

    /// Every value but these.
    pub(super) fn except(values: Vec<Value>) -> Self {
        if values.is_empty() {
            return Self::always();
        }
        Self::not(Self::among(values).keywords)
    }

    pub(super) fn partial(mut self) -> Self {
        self.exact = false;
        self
    }

    /// What both accept.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.null &= other.null;
        self.exact &= other.exact;
        conjoin(&mut self.keywords, other.keywords);
        self
    }

    /// What one of them accepts.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            null: self.null || other.null,
            exact: self.exact && other.exact,
            keywords: either(self.keywords, other.keywords),
        }
    }

    /// The keywords by themselves, where `null` may stand in the place.
    pub(super) fn keywords(self, nullable: bool) -> Keywords {
        if !nullable {
            return self.keywords;
        }
        if self.null {
            return tolerant(self.keywords);
        }
        let mut keywords = self.keywords;
        if !never(&keywords) {
            also(&mut keywords, "not", json!({ "type": "null" }));
        }
        keywords
    }
}

fn either(left: Keywords, right: Keywords) -> Keywords {
    if never(&left) || right.is_empty() || left == right {
        return right;
    }
    if never(&right) || left.is_empty() {
        return left;
    }
    if let (Some(mut values), Some(others)) = (listed(&left), listed(&right)) {
        values.extend(others);
        return Fragment::among(distinct(values)).keywords;
    }
    let mut branches = branches(left);
    for branch in self::branches(right) {
        if !branches.contains(&branch) {
            branches.push(branch);
        }
    }
    Map::from_iter([("anyOf".to_owned(), Value::Array(branches))])
}

fn branches(mut keywords: Keywords) -> Vec<Value> {
    match (keywords.len(), keywords.get_mut("anyOf")) {
        (1, Some(Value::Array(branches))) => std::mem::take(branches),
        _ => vec![Value::Object(keywords)],
    }
}

/// The values of a fragment that does nothing but list them.
fn listed(keywords: &Keywords) -> Option<Vec<Value>> {
    match (keywords.len(), keywords.get("const"), keywords.get("enum")) {
        (1, Some(only), _) => Some(vec![only.clone()]),
        (1, _, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Each value once: an `enum` should hold no value twice (JSON Schema Validation 2020-12, section 6.1.2).
pub(super) fn distinct(values: Vec<Value>) -> Vec<Value> {
    let mut distinct = Vec::with_capacity(values.len());
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// The same keywords where `null` is accepted beside them.
///
/// The keywords for numbers, strings, arrays and objects say nothing of `null`; these do.
fn tolerant(mut keywords: Keywords) -> Keywords {
    if never(&keywords) {
        return Map::from_iter([("type".to_owned(), json!("null"))]);
    }
    if let Some(only) = keywords.shift_remove("const") {
        keywords.insert("enum".to_owned(), json!([only, null]));
    } else if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        values.push(Value::Null);
    }
    if let Some(Value::Object(refused)) = keywords.get_mut("not")
        && let Some(kind) = refused.keys().find_map(|keyword| kind(keyword))
    {
        refused.insert("type".to_owned(), json!(kind));
    }
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
        && !branches.iter().any(admits_null)
    {
        branches.push(json!({ "type": "null" }));
    }
    if let Some(Value::Array(parts)) = keywords.get_mut("allOf") {
        for part in parts {
            if let Value::Object(part) = part {
                *part = tolerant(std::mem::take(part));
            }
        }
    }
    keywords
}

/// Whether a branch, made here for values other than `null`, accepts it too.
fn admits_null(branch: &Value) -> bool {
    branch
        .as_object()
        .is_some_and(|keywords| keywords.keys().all(|keyword| kind(keyword).is_some()))
}

/// The type of values that a keyword speaks about, if it is only one.
fn kind(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        "minLength" | "maxLength" | "pattern" => "string",
        "minItems" | "maxItems" | "items" | "contains" => "array",
        _ => return None,
    })
}
