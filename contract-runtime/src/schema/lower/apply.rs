//! Keywords put into the schema of the arguments.

use serde_json::{Map, Value};

use super::clause;
use super::fragment::Fragment;
use super::merge::conjoin;
use super::normal::{Normal, Root};
use super::place::Place;
use super::{Lowering, Subject};
use crate::contract::expression::Expression;
use crate::tool::form::Form;

/// What a property says to people; it stands behind what restricts its values.
const ANNOTATIONS: [&str; 3] = ["description", "default", "examples"];

/// Adds what one precondition says to `published`; `input` is the schema before any condition.
pub(super) fn condition(
    expression: &'static Expression,
    subjects: &[Subject],
    input: &Value,
    published: &mut Value,
) -> Lowering {
    let (mut exact, mut said) = (true, false);
    for clause in Normal::of(expression).clauses() {
        match one(&clause, subjects, input, published) {
            Some(added) => {
                exact &= added.exact;
                said |= added.said;
            }
            None => exact = false,
        }
    }
    match (exact, said) {
        (true, _) => Lowering::Exact,
        (false, true) => Lowering::Implied,
        (false, false) => Lowering::Told,
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
    let place = Place::parameter(name, subject.form, absent, schema, input);
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
    let place = Place::parameter("", Form::Opaque, false, &Value::Null, input);
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
