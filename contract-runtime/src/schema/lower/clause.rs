//! A predicate without negation as keywords for one place.

use serde_json::{Value, json};

use super::fragment::Fragment;
use super::leaf;
use super::merge::never;
use super::normal::Normal;
use super::place::Place;
use crate::contract::expression::Expression;
use crate::tool::form::Form;

/// What a predicate leaves of a place, if there are keywords for it.
///
/// Of several clauses some may have none: the rest says less, and so does one side of an `||` by what it cannot say.
pub(super) fn lower(normal: &Normal, place: Place<'_>) -> Option<Fragment> {
    match normal {
        Normal::And(parts) => {
            let lowered: Vec<_> = parts.iter().map(|part| lower(part, place)).collect();
            let whole = lowered.iter().all(Option::is_some);
            let all = lowered.into_iter().flatten().reduce(Fragment::and)?;
            Some(if whole { all } else { all.implied() })
        }
        Normal::Or(parts) => {
            let lowered: Option<Vec<_>> = parts.iter().map(|part| lower(part, place)).collect();
            lowered?.into_iter().reduce(Fragment::or)
        }
        Normal::Each {
            every,
            of,
            variable,
            body,
        } => quantified(*every, of, variable, body, place),
        Normal::Leaf { test, expected } => leaf::lower(test, *expected, place),
    }
}

fn quantified(
    every: bool,
    of: &Expression,
    variable: &'static str,
    body: &Normal,
    place: Place<'_>,
) -> Option<Fragment> {
    if !place.is(of) {
        return None;
    }
    // Whatever is asked of one item, or of the content, there must be one.
    let unsaid = || (!every).then(|| Fragment::always().implied());
    match place.form {
        Form::Optional(form) => {
            let body = lower(body, place.content(variable, *form)).or_else(unsaid)?;
            Some(Fragment {
                null: every,
                ..body
            })
        }
        Form::List(form) => {
            let body = lower(body, place.item(variable, *form)).or_else(unsaid)?;
            Some(each(every, body, *form))
        }
        _ => None,
    }
}

/// A list of which every item, or at least one, is accepted.
pub(super) fn each(every: bool, body: Fragment, form: Form) -> Fragment {
    let exact = body.exact;
    let keywords = body.keywords(matches!(form, Form::Optional(_)));
    let fragment = match (every, keywords.is_empty(), never(&keywords)) {
        (true, true, _) => Fragment::always(),
        (true, _, true) => Fragment::one("maxItems", json!(0)),
        (true, _, _) => Fragment::one("items", Value::Object(keywords)),
        (false, true, _) => Fragment::one("minItems", json!(1)),
        (false, _, true) => Fragment::never(),
        (false, _, _) => Fragment::one("contains", Value::Object(keywords)),
    };
    if exact { fragment } else { fragment.implied() }
}
