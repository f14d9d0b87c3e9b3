//! The keywords for one location, and their intersections and unions.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use crate::schema::Decimal;

/// The keywords of a schema.
pub(super) type Keywords = Map<String, Value>;

/// The values of one place that a predicate accepts, among those that its type accepts.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    /// Whether `null` is accepted. It has no meaning for a place that does not admit `null`.
    pub(super) null: bool,
    /// The keywords for every value other than `null`.
    pub(super) keywords: Keywords,
    /// Whether the keywords accept exactly the values that the predicate accepts. If not, they accept more.
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

    /// Everything, or nothing.
    pub(super) fn constant(holds: bool) -> Self {
        if holds { Self::always() } else { Self::never() }
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

/// Changes keywords so that they accept `null` as well.
///
/// Keywords for numbers, strings, arrays and objects accept `null` anyway; those that are changed here do not.
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

/// The largest step that is written as the common multiple of two others.
const STEP: u64 = 1 << 53;

/// Adds keywords to those of a schema; of two bounds the tighter one stays.
pub(super) fn conjoin(schema: &mut Keywords, keywords: Keywords) {
    for (keyword, value) in keywords {
        match (&*keyword, value) {
            ("minimum" | "exclusiveMinimum", value) => {
                bound(schema, LOWER, &keyword, value);
            }
            ("maximum" | "exclusiveMaximum", value) => {
                bound(schema, UPPER, &keyword, value);
            }
            ("minLength" | "minItems", value) => count(schema, keyword, value, u64::max),
            ("maxLength" | "maxItems", value) => count(schema, keyword, value, u64::min),
            ("multipleOf", value) => step(schema, value),
            ("const", value) => list(schema, vec![value]),
            ("enum", Value::Array(values)) => list(schema, values),
            ("type", value) => types(schema, value),
            ("not", value) => not(schema, value),
            ("items", Value::Object(inner)) => items(schema, inner),
            ("allOf", Value::Array(parts)) => {
                for part in parts {
                    match part {
                        Value::Object(part) => conjoin(schema, part),
                        other => push(schema, other),
                    }
                }
            }
            (_, value) => also(schema, &keyword, value),
        }
    }
}

/// Adds a keyword; beside another of its name it goes into `allOf`.
fn also(schema: &mut Keywords, keyword: &str, value: Value) {
    match schema.get(keyword) {
        None => {
            schema.insert(keyword.to_owned(), value);
        }
        Some(own) if *own == value => {}
        Some(_) => push(schema, json!({ keyword: value })),
    }
}

fn push(schema: &mut Keywords, part: Value) {
    let parts = schema
        .entry("allOf")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(parts) = parts
        && !parts.contains(&part)
    {
        parts.push(part);
    }
}

/// Whether keywords are known to accept nothing.
pub(super) fn never(keywords: &Keywords) -> bool {
    keywords.get("not") == Some(&json!({}))
}

fn refuse_all(schema: &mut Keywords) {
    schema.insert("not".to_owned(), json!({}));
}

/// The two keywords for one end, and which of two bounds is tighter.
#[derive(Clone, Copy)]
struct End {
    inclusive: &'static str,
    exclusive: &'static str,
    tighter: Ordering,
}

const LOWER: End = End {
    inclusive: "minimum",
    exclusive: "exclusiveMinimum",
    tighter: Ordering::Greater,
};

const UPPER: End = End {
    inclusive: "maximum",
    exclusive: "exclusiveMaximum",
    tighter: Ordering::Less,
};

fn decimal(value: &Value) -> Option<Decimal> {
    value.as_number().map(Decimal::of)
}

fn bound(schema: &mut Keywords, end: End, keyword: &str, value: Value) {
    for own in [end.inclusive, end.exclusive] {
        let order = match (decimal(&value), schema.get(own).and_then(decimal)) {
            (Some(new), Some(old)) => new.cmp(&old),
            _ => continue,
        };
        let both_inclusive = keyword == end.inclusive && own == end.inclusive;
        let stays = own == end.exclusive || both_inclusive;
        if order == end.tighter || (order == Ordering::Equal && !stays) {
            schema.shift_remove(own);
        } else {
            return;
        }
    }
    schema.insert(keyword.to_owned(), value);
}

fn count(schema: &mut Keywords, keyword: String, value: Value, tighter: fn(u64, u64) -> u64) {
    let both = schema
        .get(&keyword)
        .and_then(Value::as_u64)
        .zip(value.as_u64());
    let value = both.map_or(value, |(own, new)| tighter(own, new).into());
    schema.insert(keyword, value);
}

fn step(schema: &mut Keywords, value: Value) {
    let own = schema.get("multipleOf").and_then(Value::as_u64);
    let common = own
        .zip(value.as_u64())
        .and_then(|(own, new)| common_multiple(own, new))
        .filter(|common| *common <= STEP);
    match common {
        Some(common) => {
            schema.insert("multipleOf".to_owned(), common.into());
        }
        None => also(schema, "multipleOf", value),
    }
}

fn common_multiple(left: u64, right: u64) -> Option<u64> {
    let (mut divisor, mut rest) = (left, right);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    left.checked_div(divisor)?.checked_mul(right)
}

/// Keeps the values that both lists contain.
fn list(schema: &mut Keywords, values: Vec<Value>) {
    let own = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only.clone()],
        (None, Some(Value::Array(listed))) => listed.clone(),
        _ => {
            schema.extend(Fragment::among(values).keywords);
            return;
        }
    };
    let both: Vec<Value> = own
        .into_iter()
        .filter(|one| values.iter().any(|other| same(one, other)))
        .collect();
    if both.is_empty() {
        return refuse_all(schema);
    }
    schema.shift_remove("const");
    schema.shift_remove("enum");
    schema.extend(Fragment::among(both).keywords);
}

/// Equal as JSON Schema has it: `1` and `1.0` are.
fn same(left: &Value, right: &Value) -> bool {
    match (decimal(left), decimal(right)) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

fn types(schema: &mut Keywords, value: Value) {
    let Some(own) = schema.get("type") else {
        schema.insert("type".to_owned(), value);
        return;
    };
    let (own, others) = (names(own), names(&value));
    let both: Vec<Value> = own
        .into_iter()
        .filter(|name| others.contains(name))
        .collect();
    set_types(schema, both);
}

fn names(types: &Value) -> Vec<Value> {
    match types {
        Value::Array(names) => names.clone(),
        only => vec![only.clone()],
    }
}

fn set_types(schema: &mut Keywords, mut names: Vec<Value>) {
    match (names.pop(), names.is_empty()) {
        (None, _) => refuse_all(schema),
        (Some(only), true) => {
            schema.insert("type".to_owned(), only);
        }
        (Some(last), false) => {
            names.push(last);
            schema.insert("type".to_owned(), Value::Array(names));
        }
    }
}

fn items(schema: &mut Keywords, inner: Keywords) {
    match schema.get_mut("items") {
        Some(Value::Object(own)) => conjoin(own, inner),
        Some(Value::Bool(false)) => {}
        _ => {
            schema.insert("items".to_owned(), Value::Object(inner));
        }
    }
}

fn not(schema: &mut Keywords, refused: Value) {
    if never(schema) {
        return;
    }
    if refused == json!({}) {
        return refuse_all(schema);
    }
    if refused == json!({ "type": "null" }) {
        return refuse_null(schema);
    }
    let values = |refused: &Value| refused.as_object().and_then(listed);
    match (schema.get("not").and_then(values), values(&refused)) {
        (Some(mut values), Some(others)) => {
            values.extend(others);
            schema.extend(Fragment::except(distinct(values)).keywords);
        }
        _ => also(schema, "not", refused),
    }
}

/// Removes `null` from a type. Its branch or its name is removed, so that readers that ignore `not` see it too.
fn refuse_null(schema: &mut Keywords) {
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
        if values.is_empty() {
            return refuse_all(schema);
        }
    }
    if let Some(own) = schema.get("type") {
        let mut names = names(own);
        names.retain(|name| name != "null");
        return set_types(schema, names);
    }
    let is_null = |branch: &Value| branch.get("type").is_some_and(|only| only == "null");
    let Some(Value::Array(branches)) = schema.get_mut("anyOf") else {
        return also(schema, "not", json!({ "type": "null" }));
    };
    let before = branches.len();
    branches.retain(|branch| !is_null(branch));
    match (branches.as_slice(), before - branches.len()) {
        (_, 0) => also(schema, "not", json!({ "type": "null" })),
        ([Value::Object(only)], _) => {
            let only = only.clone();
            if !only
                .keys()
                .any(|keyword| keyword != "anyOf" && schema.contains_key(keyword))
            {
                schema.shift_remove("anyOf");
                schema.extend(only);
            }
        }
        _ => {}
    }
}
