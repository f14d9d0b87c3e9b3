//! Lowers a predicate without negation to keywords for one location.

use serde_json::{Value, json};

use super::atom;
use super::fragment::Fragment;
use super::merge::never;
use super::nnf::Normal;
use super::value_path::ValuePath;
use crate::contract::expression::Expression;
use crate::contract::type_kind::TypeKind;

/// What a predicate leaves of a place, if there are keywords for it.
///
/// Of several clauses some may have none: the rest says less, and so does one side of an `||` by what it cannot say.
pub(super) fn lower(normal: &Normal, place: ValuePath<'_>) -> Option<Fragment> {
    match normal {
        Normal::And(parts) => {
            let lowered: Vec<_> = parts.iter().map(|part| lower(part, place)).collect();
            let whole = lowered.iter().all(Option::is_some);
            let all = lowered.into_iter().flatten().reduce(Fragment::and)?;
            Some(if whole { all } else { all.partial() })
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
        Normal::Leaf { test, expected } => atom::lower(test, *expected, place),
    }
}

fn quantified(
    every: bool,
    of: &Expression,
    variable: &'static str,
    body: &Normal,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    if !place.is(of) {
        return None;
    }
    // Whatever is asked of one item, or of the content, there must be one.
    let unsaid = || (!every).then(|| Fragment::always().partial());
    match place.kind {
        TypeKind::Optional(kind) => {
            let body = lower(body, place.content(variable, *kind)).or_else(unsaid)?;
            Some(Fragment {
                null: every,
                ..body
            })
        }
        TypeKind::List(kind) => {
            let body = lower(body, place.item(variable, *kind)).or_else(unsaid)?;
            Some(each(every, body, *kind))
        }
        _ => None,
    }
}

/// Returns the keywords of a list. `every`: all of its items must be accepted; otherwise at least one.
pub(super) fn each(every: bool, body: Fragment, kind: TypeKind) -> Fragment {
    let exact = body.exact;
    let keywords = body.keywords(matches!(kind, TypeKind::Optional(_)));
    let fragment = match (every, keywords.is_empty(), never(&keywords)) {
        (true, true, _) => Fragment::always(),
        (true, _, true) => Fragment::one("maxItems", json!(0)),
        (true, _, _) => Fragment::one("items", Value::Object(keywords)),
        (false, true, _) => Fragment::one("minItems", json!(1)),
        (false, _, true) => Fragment::never(),
        (false, _, _) => Fragment::one("contains", Value::Object(keywords)),
    };
    if exact { fragment } else { fragment.partial() }
}
