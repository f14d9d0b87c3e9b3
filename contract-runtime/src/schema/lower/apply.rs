//! Merges keywords into the schema of the arguments.

use serde_json::{Map, Value};

use super::clause;
use super::fragment::Fragment;
use super::merge::conjoin;
use super::nnf::{Normal, Root};
use super::value_path::ValuePath;
use super::{Lowering, Subject};
use crate::contract::expression::{Comparison, Expression};
use crate::contract::type_kind::TypeKind;

/// The keywords of a property that are for people. They follow those that restrict its values.
const ANNOTATIONS: [&str; 3] = ["description", "default", "examples"];

/// How much of a condition the keywords express.
pub(super) struct Lowered {
    pub(super) lowering: Lowering,
    /// The clauses that the keywords do not express completely.
    pub(super) rest: Vec<Normal>,
}

/// Adds what one precondition says to `published`; `input` is the schema before any condition.
pub(super) fn condition(
    expression: &'static Expression,
    subjects: &[Subject],
    input: &Value,
    published: &mut Value,
) -> Lowered {
    let (mut exact, mut said) = (true, false);
    let mut rest = Vec::new();
    for clause in Normal::of(expression).clauses() {
        let added = one(&clause, subjects, input, published);
        let is_exact = added.as_ref().is_some_and(|added| added.exact);
        exact &= is_exact;
        said |= added.as_ref().is_some_and(|added| added.said);
        if !(is_exact || added.is_some() && limits_bytes(&clause)) {
            rest.push(clause);
        }
    }
    let lowering = match (exact, said) {
        (true, _) => Lowering::Exact,
        (false, true) => Lowering::Partial,
        (false, false) => Lowering::Described,
    };
    Lowered { lowering, rest }
}

/// A most of bytes that is published as the same number of characters: to say it again in bytes helps no model.
fn limits_bytes(clause: &Normal) -> bool {
    let Normal::Leaf {
        test: Expression::Compare(comparison, one, other),
        expected,
    } = clause
    else {
        return false;
    };
    let comparison = if *expected {
        *comparison
    } else {
        comparison.negated()
    };
    match (one, other) {
        (Expression::Length(_), _) => {
            matches!(comparison, Comparison::Less | Comparison::AtMost)
        }
        (_, Expression::Length(_)) => {
            matches!(comparison, Comparison::More | Comparison::AtLeast)
        }
        _ => false,
    }
}

struct Added {
    exact: bool,
    said: bool,
}

fn one(
    clause: &Normal,
    subjects: &[Subject],
    input: &Value,
    published: &mut Value,
) -> Option<Added> {
    let roots = clause.roots();
    let name = match roots.as_slice() {
        [] => return constant(clause, input),
        [Root::Parameter(name)] => *name,
        _ => return None,
    };
    let subject = subjects.iter().find(|subject| subject.name == name)?;
    let schema = input.get("properties")?.get(name)?;
    let absent = !subject.required && subject.default.is_none();
    let place = ValuePath::parameter(name, subject.kind, absent, schema, input);
    let fragment = clause::lower(clause, place)?;
    let (exact, require) = (fragment.exact, absent && !fragment.null);
    let said = restrict(published, name, fragment, place.nullable)?;
    if require {
        self::require(published, name);
    }
    Some(Added {
        exact,
        said: said || require,
    })
}

/// A clause over constants alone; one that never holds has no place to be said in.
fn constant(clause: &Normal, input: &Value) -> Option<Added> {
    let place = ValuePath::parameter("", TypeKind::Opaque, false, &Value::Null, input);
    let holds = clause::lower(clause, place)?.keywords.is_empty();
    holds.then_some(Added {
        exact: true,
        said: false,
    })
}

/// Whether there was something to add to the property.
fn restrict(published: &mut Value, name: &str, fragment: Fragment, nullable: bool) -> Option<bool> {
    let keywords = fragment.keywords(nullable);
    if keywords.is_empty() {
        return Some(false);
    }
    let property = published.get_mut("properties")?.get_mut(name)?;
    if *property == Value::Bool(true) {
        *property = Value::Object(Map::new());
    }
    let schema = property.as_object_mut()?;
    conjoin(schema, keywords);
    for annotation in ANNOTATIONS {
        if let Some(text) = schema.shift_remove(annotation) {
            schema.insert(annotation.to_owned(), text);
        }
    }
    Some(true)
}

/// Names the property among those that must be given, in the order of the properties.
fn require(published: &mut Value, name: &str) {
    let Some(Value::Object(properties)) = published.get("properties") else {
        return;
    };
    let own = published.get("required").and_then(Value::as_array);
    let is_required =
        |one: &str| one == name || own.is_some_and(|names| names.iter().any(|known| known == one));
    let required: Vec<Value> = properties
        .keys()
        .filter(|one| is_required(one))
        .map(|one| Value::String(one.clone()))
        .collect();
    if let Value::Object(keywords) = published {
        keywords.insert("required".to_owned(), Value::Array(required));
    }
}
