//! Random schemas and values: no value, and no other implementation, may refute a "yes".

use std::cell::Cell;

use jsonschema::canonical::Containment;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::super::readable;
use super::shown;
use contract_runtime::__family::{KeywordValue, holds};

const CASES: u32 = 250;

pub(super) fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        select(vec![json!(null), json!(true), json!(false)]),
        (-3..8_i64).prop_map(Value::from),
        select(vec![json!(0.5), json!(2.5), json!(-1.5), json!(3.0)]),
        select(vec!["", "a", "ab", "abc", "b", "ba", "aaaa"]).prop_map(Value::from),
    ]
}

pub(super) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        let key = select(vec!["a", "b", "c"]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> {
    let types = vec![
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    let names = || subsequence(vec!["a", "b", "c"], 0..3);
    let count = || (0..4_u8).prop_map(|count| json!(count));
    let limit = || {
        prop_oneof![
            (-2..6_i8).prop_map(|at| json!(at)),
            select(vec![json!(0.5), json!(2.5)])
        ]
    };
    let list = |inner: &BoxedStrategy<Value>| {
        prop::collection::vec(inner.clone(), 1..3).prop_map(Value::Array)
    };
    let map = |inner: &BoxedStrategy<Value>| {
        let key = select(vec!["a", "b"]).prop_map(str::to_owned);
        prop::collection::btree_map(key, inner.clone(), 0..3)
            .prop_map(|members| Value::Object(Map::from_iter(members)))
    };
    let texts = prop_oneof![
        (select(vec!["minLength", "maxLength"]), count()),
        select(vec!["^a", "b$"]).prop_map(|pattern| ("pattern", json!(pattern))),
    ];
    let numbers = prop_oneof![
        (
            select(vec![
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum"
            ]),
            limit()
        ),
        select(vec![json!(1), json!(2), json!(4), json!(0.5)])
            .prop_map(|step| ("multipleOf", step)),
    ];
    let arrays = prop_oneof![
        (
            select(vec!["minItems", "maxItems", "minContains", "maxContains"]),
            count()
        ),
        any::<bool>().prop_map(|flag| ("uniqueItems", json!(flag))),
        (select(vec!["items", "contains"]), inner.clone()),
        list(&inner).prop_map(|items| ("prefixItems", items)),
    ];
    let objects = prop_oneof![
        3 => map(&inner).prop_map(|members| ("properties", members)),
        2 => names().prop_map(|names| ("required", json!(names))),
        2 => prop_oneof![Just(json!(false)), inner.clone()].prop_map(|rest| ("additionalProperties", rest)),
        1 => (select(vec!["minProperties", "maxProperties"]), count()),
        1 => inner.clone().prop_map(|one| ("patternProperties", json!({"^a": one}))),
        1 => inner.clone().prop_map(|one| ("propertyNames", one)),
        1 => names().prop_map(|names| ("dependentRequired", json!({"a": names}))),
        1 => inner.clone().prop_map(|one| ("dependentSchemas", json!({"a": one}))),
    ];
    prop_oneof![
        4 => subsequence(types, 1..4).prop_map(|types| ("type", json!(types))),
        2 => prop::collection::vec(value(), 1..4).prop_map(|values| ("enum", Value::Array(values))),
        1 => value().prop_map(|value| ("const", value)),
        2 => texts,
        3 => numbers,
        3 => arrays,
        4 => objects,
        3 => (select(vec!["allOf", "anyOf", "oneOf"]), list(&inner)),
        1 => inner.clone().prop_map(|one| ("not", one)),
        1 => (select(vec!["if", "then", "else"]), inner),
    ]
}

pub(super) fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        select(vec!["integer", "number", "string", "boolean", "null"])
            .prop_map(|name| json!({"type": name})),
        Just(json!({"$ref": "#/$defs/node"})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 1..4).prop_map(|keywords| {
            let named = keywords
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value));
            Value::Object(named.collect())
        })
    })
}

/// With a definition that any part of it may refer to, and that refers to itself.
fn document(schema: &Value) -> Value {
    let node = json!({
        "type": ["object", "integer"],
        "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": "string"}},
        "additionalProperties": false,
    });
    json!({"allOf": [schema], "$defs": {"node": node}})
}

fn accepts(schema: &Value) -> impl Fn(&Value) -> bool {
    let validator = jsonschema::draft202012::new(schema).expect("a valid schema");
    move |value| validator.is_valid(value)
}

/// What the algebra of `jsonschema` says, where it can take the two in at all.
pub(super) fn algebra(outer: &Value, inner: &Value) -> Containment {
    let canonical = |schema: &Value| jsonschema::canonicalize(schema).ok();
    let (Some(outer), Some(inner)) = (canonical(outer), canonical(inner)) else {
        return Containment::Unknown;
    };
    outer.covers(&inner).unwrap_or(Containment::Unknown)
}

#[track_caller]
fn not_refuted(outer: &Value, inner: &Value, values: &[Value]) -> Result<(), TestCaseError> {
    let (by_outer, by_inner) = (accepts(outer), accepts(inner));
    for value in values {
        prop_assert!(
            by_outer(value) || !by_inner(value),
            "{inner}\naccepts {value}, and this does not:\n{outer}"
        );
    }
    prop_assert_ne!(
        algebra(outer, inner),
        Containment::No,
        "{}\nover\n{}",
        outer,
        inner
    );
    Ok(())
}

/// The places of all schemas inside a schema.
fn places(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        return;
    };
    found.push(at.to_owned());
    for (keyword, value) in keywords {
        let at = format!("{at}/{keyword}");
        match holds(keyword) {
            KeywordValue::Schema => places(value, &at, found),
            KeywordValue::List | KeywordValue::Map => {
                let listed = value.as_array().into_iter().flatten().enumerate();
                listed.for_each(|(place, one)| places(one, &format!("{at}/{place}"), found));
                let named = value.as_object().into_iter().flatten();
                named.for_each(|(name, one)| places(one, &format!("{at}/{name}"), found));
            }
            KeywordValue::Data => {}
        }
    }
}

/// The same schema with one keyword set, or left out.
fn edited(schema: &Value, place: Index, keyword: Index, new: Option<(&str, Value)>) -> Value {
    let mut edited = schema.clone();
    let mut found = Vec::new();
    places(schema, "", &mut found);
    if found.is_empty() {
        return edited;
    }
    let at: &String = place.get(&found);
    let keywords = edited.pointer_mut(at);
    let Some(keywords) = keywords.and_then(Value::as_object_mut) else {
        return edited;
    };
    match new {
        Some((name, value)) => drop(keywords.insert(name.to_owned(), value)),
        None if keywords.is_empty() => {}
        None => {
            let names: Vec<_> = keywords.keys().cloned().collect();
            keywords.shift_remove(keyword.get(&names));
        }
    }
    edited
}

/// A schema, and the same after a few edits.
fn relatives() -> impl Strategy<Value = (Value, Value)> {
    let new = prop::option::of(keyword(schema().boxed()));
    let edits = prop::collection::vec((any::<Index>(), any::<Index>(), new), 1..4);
    (schema(), edits).prop_map(|(schema, edits)| {
        let after = edits.into_iter().fold(schema.clone(), |schema, edit| {
            edited(&schema, edit.0, edit.1, edit.2)
        });
        (document(&schema), document(&after))
    })
}

/// Judges both directions; how many were shown.
fn judge(one: &Value, other: &Value, values: &[Value]) -> Result<u32, TestCaseError> {
    let mut yes = 0;
    if readable(one).is_err() || readable(other).is_err() {
        return Ok(yes);
    }
    for (outer, inner) in [(one, other), (other, one)] {
        if shown(outer, inner).is_ok() {
            yes += 1;
            not_refuted(outer, inner, values)?;
        }
    }
    Ok(yes)
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    }
}

#[test]
fn a_yes_is_never_refuted() {
    let mut runner = TestRunner::new(config());
    let pairs = prop_oneof![
        1 => (schema(), schema()).prop_map(|(one, other)| (document(&one), document(&other))),
        4 => relatives(),
    ];
    let yes = Cell::new(0);
    let values = prop::collection::vec(value(), 40);
    let result = runner.run(&(pairs, values), |((one, other), values)| {
        yes.set(yes.get() + judge(&one, &other, &values)?);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    // A judge that never says yes is never wrong.
    assert!(
        yes.get() > CASES / 4,
        "only {} of {CASES} pairs were shown",
        yes.get()
    );
}

#[test]
fn every_schema_is_as_wide_as_itself() {
    let mut runner = TestRunner::new(config());
    let result = runner.run(&schema(), |schema| {
        let one = document(&schema);
        if readable(&one).is_ok() {
            prop_assert_eq!(shown(&one, &one.clone()), Ok(()), "{}", one);
        }
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}
