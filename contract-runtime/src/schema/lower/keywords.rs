//! Lowers preconditions to keywords of JSON Schema, and adds them to the schema of the arguments.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::bounds::{self, Affix, Count, INTEGRAL, magnitude};
use super::fragment::{Fragment, conjoin, never};
use super::normal::{COUNTS, Constant, Normal, answer, finite_values, passing_values};
use super::{Lowering, Subject};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;
use crate::schema::pattern;

/// The keywords of a property that are for people. They follow those that restrict its values.
const ANNOTATIONS: [&str; 3] = ["description", "default", "examples"];

/// Adds what one precondition says to `published`; `input` is the schema before any condition. Returns how much of it the keywords
/// express, and the clauses that they do not express completely.
pub(super) fn condition(
    expression: &'static Expression,
    subjects: &[Subject],
    input: &Value,
    published: &mut Value,
) -> (Lowering, Vec<Normal>) {
    let (mut exact, mut said) = (true, false);
    let mut rest = Vec::new();
    for clause in Normal::of(expression).clauses() {
        let added = one(&clause, subjects, input, published);
        let (is_exact, is_said) = added.unwrap_or_default();
        exact &= is_exact;
        said |= is_said;
        if !(is_exact || added.is_some() && limits_bytes(&clause)) {
            rest.push(clause);
        }
    }
    let lowering = match (exact, said) {
        (true, _) => Lowering::Exact,
        (false, true) => Lowering::Partial,
        (false, false) => Lowering::Described,
    };
    (lowering, rest)
}

/// Returns whether a clause limits bytes from above. A keyword limits the characters to the same number, which is enough for a model.
fn limits_bytes(clause: &Normal) -> bool {
    let Normal::Leaf {
        test: Expression::Compare(comparison, one, other),
        expected,
    } = clause
    else {
        return false;
    };
    let comparison = comparison.expecting(*expected);
    let most = match (one, other) {
        (Expression::Length(_), _) => comparison,
        (_, Expression::Length(_)) => comparison.mirrored(),
        _ => return false,
    };
    matches!(most, Comparison::Less | Comparison::AtMost)
}

/// Adds the keywords of one clause. Returns whether they express it completely, and whether any keyword was added.
fn one(
    clause: &Normal,
    subjects: &[Subject],
    input: &Value,
    published: &mut Value,
) -> Option<(bool, bool)> {
    let mut names = clause.parameters().into_iter();
    let name = match (names.next(), names.next()) {
        (None, _) => return alone(clause, input),
        (Some(name), None) => name,
        _ => return None,
    };
    let subject = subjects.iter().find(|subject| subject.name == name)?;
    let schema = input.get("properties")?.get(name)?;
    let absent = !subject.required && subject.default.is_none();
    let place = ValuePath::parameter(name, subject.kind, absent, schema, input);
    let fragment = lower(clause, place)?;
    let (exact, require) = (fragment.exact, absent && !fragment.null);
    let said = restrict(published, name, fragment, place.nullable)?;
    if require {
        self::require(published, name);
    }
    Some((exact, said || require))
}

/// Lowers a clause without parameters. Returns `None` if it never holds: it belongs to no property, so no keyword can express it.
fn alone(clause: &Normal, input: &Value) -> Option<(bool, bool)> {
    let place = ValuePath::parameter("", TypeKind::Opaque, false, &Value::Null, input);
    let holds = lower(clause, place)?.keywords.is_empty();
    holds.then_some((true, false))
}

/// Adds a fragment to the schema of a property. Returns whether it added anything.
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

/// Adds the property to `required`, in the order of the properties.
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

/// The value that keywords restrict: a parameter, or the value that a closure receives.
#[derive(Clone, Copy, Debug)]
struct ValuePath<'s> {
    of: Expression,
    kind: TypeKind,
    /// Whether the value may be `null`.
    nullable: bool,
    /// Whether the value may be absent. Rust then reads it as `null`.
    absent: bool,
    schema: Option<&'s Value>,
    /// The schema of the arguments, which holds the definitions that other schemas refer to.
    input: &'s Value,
}

impl<'s> ValuePath<'s> {
    fn parameter(
        name: &'static str,
        kind: TypeKind,
        absent: bool,
        schema: &'s Value,
        input: &'s Value,
    ) -> Self {
        Self {
            of: Expression::Parameter(name),
            kind,
            nullable: matches!(kind, TypeKind::Optional(_))
                || finite_values(schema, input).is_some_and(|all| all.contains(&Value::Null)),
            absent,
            schema: Some(schema),
            input,
        }
    }

    /// Returns the place of any item of a list, or of the value that an optional holds.
    fn inside(self, variable: &'static str, kind: TypeKind, is_item: bool) -> Self {
        Self {
            of: Expression::Variable(variable),
            kind,
            nullable: is_item && matches!(kind, TypeKind::Optional(_)),
            absent: false,
            schema: self.schema.filter(|_| !is_item),
            input: self.input,
        }
    }

    /// Returns whether the expression names this value.
    fn is(&self, expression: &Expression) -> bool {
        match (self.of, expression) {
            (Expression::Parameter(own), Expression::Parameter(name))
            | (Expression::Variable(own), Expression::Variable(name)) => own == *name,
            _ => false,
        }
    }

    /// Returns the value of a constant of this type.
    fn constant(&self, expression: &Expression) -> Option<Constant> {
        Constant::of(expression, self.kind)
    }
}

/// Returns the value of a constant that a length is compared with.
fn counted(expression: &Expression) -> Option<i128> {
    let (low, high) = COUNTS;
    match Constant::of(expression, TypeKind::Integer { low, high })? {
        Constant::Integer(value) => Some(value),
        _ => None,
    }
}

/// Returns the values of a place that a predicate accepts. Returns `None` if no keyword expresses it.
///
/// A clause of `&&` that has no keyword is left out, so the result accepts more; each side of `||` is treated in the same way.
fn lower(normal: &Normal, place: ValuePath<'_>) -> Option<Fragment> {
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
        Normal::Leaf { test, expected } => leaf(test, *expected, place),
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
    // Even if the body has no keyword, a quantifier that is not `every` demands an item of a list, or a value of an optional.
    let unsaid = || (!every).then(|| Fragment::always().partial());
    let (TypeKind::Optional(kind) | TypeKind::List(kind)) = place.kind else {
        return None;
    };
    let is_item = matches!(place.kind, TypeKind::List(_));
    let body = lower(body, place.inside(variable, *kind, is_item)).or_else(unsaid)?;
    Some(if is_item {
        each(every, body, *kind)
    } else {
        Fragment {
            null: every,
            ..body
        }
    })
}

/// Returns the keywords of a list. `every`: all of its items must be accepted; otherwise at least one.
fn each(every: bool, body: Fragment, kind: TypeKind) -> Fragment {
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

/// Returns the values of a place for which a test has the expected answer. Returns `None` if no keyword expresses it.
fn leaf(test: &Expression, expected: bool, place: ValuePath<'_>) -> Option<Fragment> {
    let written = |with| match place.constant(with)? {
        Constant::Text(written) => Some(written),
        _ => None,
    };
    let holding = |affix, with| bounds::holding(affix, &written(with)?, expected);
    match (test, place.kind) {
        (test, TypeKind::Bool) if place.is(test) => {
            Some(Fragment::among(vec![Value::Bool(expected)]))
        }
        (Expression::Compare(comparison, left, right), _) => {
            compare(comparison.expecting(expected), left, right, place)
        }
        (Expression::Among(of, list), _) if place.is(of) => {
            let constants: Option<Vec<_>> = list.iter().map(|one| place.constant(one)).collect();
            listed(&constants?, expected, place)
        }
        (Expression::IsAscii(of), TypeKind::Text | TypeKind::Character) if place.is(of) => {
            Some(bounds::matching(pattern::ASCII.to_owned(), expected))
        }
        (Expression::StartsWith(of, with), TypeKind::Text) if place.is(of) => {
            holding(Affix::Start, with)
        }
        (Expression::EndsWith(of, with), TypeKind::Text) if place.is(of) => {
            holding(Affix::End, with)
        }
        (Expression::Contains(of, with), TypeKind::Text) if place.is(of) => {
            holding(Affix::Anywhere, with)
        }
        (Expression::Contains(of, item), TypeKind::List(kind)) if place.is(of) => {
            contains(item, *kind, expected, place)
        }
        (Expression::Contains(list, of), _) if place.is(of) => {
            listed(&Constant::list(list)?, expected, place)
        }
        (Expression::Matches(of, with), TypeKind::Text) if place.is(of) => {
            let pattern = pattern::portable(&written(with)?)?;
            Some(bounds::matching(pattern, expected))
        }
        (Expression::IsSome(of), TypeKind::Optional(_)) if place.is(of) => Some(Fragment {
            null: !expected,
            ..Fragment::constant(expected)
        }),
        (Expression::IsFinite(of), TypeKind::Float { .. }) if place.is(of) => {
            Some(Fragment::constant(expected))
        }
        (
            Expression::Native {
                parameter, holds, ..
            },
            _,
        ) if place.is(&Expression::Parameter(parameter)) => native(*holds, expected, place),
        _ => match Constant::of(test, TypeKind::Bool)? {
            Constant::Bool(value) => Some(Fragment::constant(value == expected)),
            _ => None,
        },
    }
}

fn compare(
    comparison: Comparison,
    left: &Expression,
    right: &Expression,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    if place.is(left) && place.is(right) {
        // Every value that JSON can express equals itself.
        return match place.kind {
            TypeKind::Opaque | TypeKind::List(_) | TypeKind::Optional(_) => None,
            _ => Some(Fragment::constant(comparison.holds(Ordering::Equal))),
        };
    }
    side(comparison, left, right, place)
        .or_else(|| side(comparison.mirrored(), right, left, place))
        .or_else(|| Constant::compared(comparison, left, right).map(Fragment::constant))
}

/// Lowers a comparison of the place, or of a number computed from it, with a constant on the right.
fn side(
    comparison: Comparison,
    computed: &Expression,
    with: &Expression,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    match (computed, place.kind, place.constant(with)) {
        (of, TypeKind::Integer { low, high }, Some(Constant::Integer(value))) if place.is(of) => {
            bounds::integers(comparison, value, (low, high))
        }
        (of, TypeKind::Float { single }, Some(Constant::Float(value))) if place.is(of) => {
            bounds::floats(comparison, value, single)
        }
        (of, TypeKind::Bool | TypeKind::Text | TypeKind::Character, Some(constant))
            if place.is(of) && is_equality =>
        {
            listed(&[constant], comparison == Comparison::Equal, place)
        }
        (Expression::Length(of), TypeKind::Text, _) if place.is(of) => {
            Count::Bytes.compared(comparison, counted(with)?)
        }
        (Expression::Length(of), TypeKind::List(_), _) if place.is(of) => {
            Count::Items.compared(comparison, counted(with)?)
        }
        (Expression::Characters(of), TypeKind::Text, _) if place.is(of) => {
            Count::Characters.compared(comparison, counted(with)?)
        }
        (
            Expression::Absolute(of) | Expression::UnsignedAbsolute(of),
            TypeKind::Integer { low, high },
            Some(Constant::Integer(value)),
        ) if place.is(of) => {
            let outside = magnitude(comparison, value.checked_neg()?, |by, value| {
                bounds::integers(by, value, (low, high))
            })?;
            if matches!(computed, Expression::UnsignedAbsolute(_)) {
                return Some(outside);
            }
            // Without overflow checks the least integer stays as it is, below every limit.
            matches!(comparison, Comparison::More | Comparison::AtLeast).then(|| outside.partial())
        }
        (Expression::Absolute(of), TypeKind::Float { single }, Some(Constant::Float(value)))
            if place.is(of) =>
        {
            magnitude(comparison, -value, |by, value| {
                bounds::floats(by, value, single)
            })
        }
        (
            Expression::Arithmetic(Operation::Remainder, of, step),
            TypeKind::Integer { low, high },
            Some(Constant::Integer(rest)),
        ) if place.is(of) => match place.constant(step)? {
            Constant::Integer(step) => bounds::remainder(comparison, step, rest, (low, high)),
            _ => None,
        },
        _ => None,
    }
}

fn listed(constants: &[Constant], expected: bool, place: ValuePath<'_>) -> Option<Fragment> {
    let json = |constant: &Constant| match (place.kind, constant) {
        (TypeKind::Bool, Constant::Bool(_))
        | (TypeKind::Integer { .. } | TypeKind::Float { .. }, Constant::Integer(_))
        | (TypeKind::Text | TypeKind::Character, Constant::Text(_)) => constant.json(),
        (TypeKind::Float { single: false }, Constant::Float(value)) if value.abs() < INTEGRAL => {
            constant.json()
        }
        _ => None,
    };
    let values: Option<Vec<Value>> = constants.iter().map(json).collect();
    Some(bounds::listed(values?, expected))
}

/// Lowers a list that contains this item, or does not.
fn contains(
    item: &Expression,
    kind: TypeKind,
    expected: bool,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    // The empty name stands for the item: no variable of a closure can have it.
    let item_place = place.inside("", kind, true);
    let comparison = Comparison::Equal.expecting(expected);
    let body = side(comparison, &Expression::Variable(""), item, item_place)?;
    Some(each(!expected, body, kind))
}

/// Lowers a test that only Rust can evaluate, by asking it about every value of the type.
fn native(
    holds: fn(&str) -> Option<bool>,
    expected: bool,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    let all = finite_values(place.schema?, place.input)?;
    let passing = passing_values(&all, expected, holds)?;
    let null = if place.nullable || place.absent {
        answer(&Value::Null, holds).is_none_or(|answer| answer == expected)
    } else {
        true
    };
    let fragment = if passing.len() == all.len() {
        Fragment::always()
    } else {
        Fragment::among(
            passing
                .into_iter()
                .filter(|value| !value.is_null())
                .collect(),
        )
    };
    Some(Fragment { null, ..fragment })
}
