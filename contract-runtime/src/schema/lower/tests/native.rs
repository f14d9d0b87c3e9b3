//! A reference evaluator of predicates that knows nothing of schemas.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

/// A value as Rust has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Typed {
    Bool(bool),
    /// With the ends of its type, if it is no literal.
    Integer(i128, Option<(i128, i128)>),
    Double(f64),
    Single(f32),
    /// A text or a character.
    Text(String),
    List(Vec<Self>),
    Optional(Option<Box<Self>>),
    /// A type of the author's.
    Own(Value),
}

/// The value that serde reads from JSON; the schema of the type has accepted it.
pub(super) fn decode(value: &Value, kind: TypeKind) -> Typed {
    match kind {
        TypeKind::Opaque => Typed::Own(value.clone()),
        TypeKind::Bool => Typed::Bool(value.as_bool().unwrap()),
        TypeKind::Integer { low, high } => {
            let number = value.as_number().unwrap();
            let exact = number.as_i64().map(i128::from);
            let exact = exact.or_else(|| number.as_u64().map(i128::from));
            // `5.0` is normalised before it is read.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "integral, as the schema has it"
            )]
            let exact = exact.unwrap_or_else(|| number.as_f64().unwrap() as i128);
            Typed::Integer(exact, Some((low, high)))
        }
        TypeKind::Float { single: false } => Typed::Double(value.as_f64().unwrap()),
        TypeKind::Float { single: true } => Typed::Single(single(value)),
        TypeKind::Text | TypeKind::Character => Typed::Text(value.as_str().unwrap().to_owned()),
        TypeKind::List(kind) => {
            let items = value.as_array().unwrap().iter();
            Typed::List(items.map(|item| decode(item, *kind)).collect())
        }
        TypeKind::Optional(_) if value.is_null() => Typed::Optional(None),
        TypeKind::Optional(kind) => Typed::Optional(Some(Box::new(decode(value, *kind)))),
    }
}

fn single(value: &Value) -> f32 {
    serde_json::from_value(value.clone()).unwrap()
}

/// Why a predicate has no answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panicked;

type Answer = Result<Typed, Panicked>;

/// The values a predicate sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) parameters: HashMap<&'static str, Typed>,
    variables: Vec<(&'static str, Typed)>,
}

/// Whether the predicate holds; one that panics is a violation.
pub(super) fn holds(expression: &Expression, scope: &Scope) -> bool {
    matches!(evaluate(expression, scope), Ok(Typed::Bool(true)))
}

/// A value of a type of the author's, or the absence of one.
fn own(value: &Typed) -> Value {
    match value {
        Typed::Own(value) => value.clone(),
        Typed::Optional(None) => Value::Null,
        Typed::Optional(Some(content)) => own(content),
        other => panic!("{other:?} is no type of the author's"),
    }
}

fn evaluate(expression: &Expression, scope: &Scope) -> Answer {
    let truth = |of: &Expression| match evaluate(of, scope)? {
        Typed::Bool(value) => Ok(value),
        other => panic!("{other:?} is no truth value"),
    };
    let text = |of: &Expression| match evaluate(of, scope)? {
        Typed::Text(text) => Ok(text),
        other => panic!("{other:?} is not a text"),
    };
    Ok(match expression {
        Expression::Bool(value) => Typed::Bool(*value),
        Expression::Integer(value) => Typed::Integer(*value, None),
        Expression::Float(value) => Typed::Double(*value),
        Expression::Text(value) => Typed::Text((*value).to_owned()),
        Expression::Named { value, .. } => named(value()),
        Expression::Parameter(name) => scope.parameters[name].clone(),
        Expression::Variable(name) => {
            let mut known = scope.variables.iter().rev();
            known.find(|(one, _)| one == name).unwrap().1.clone()
        }
        Expression::Not(of) => Typed::Bool(!truth(of)?),
        Expression::And(left, right) => Typed::Bool(truth(left)? && truth(right)?),
        Expression::Or(left, right) => Typed::Bool(truth(left)? || truth(right)?),
        Expression::Compare(comparison, left, right) => {
            let (left, right) = (evaluate(left, scope)?, evaluate(right, scope)?);
            Typed::Bool(compare(*comparison, &left, &right))
        }
        Expression::Arithmetic(operation, left, right) => {
            arithmetic(*operation, evaluate(left, scope)?, evaluate(right, scope)?)?
        }
        Expression::Negative(of) => match evaluate(of, scope)? {
            Typed::Integer(value, ends) => fitting(value.checked_neg(), ends)?,
            Typed::Double(value) => Typed::Double(-value),
            other => panic!("-{other:?}"),
        },
        Expression::Absolute(of) => absolute(evaluate(of, scope)?)?,
        Expression::Widened(of, kind) => match (evaluate(of, scope)?, kind) {
            (Typed::Integer(value, _), TypeKind::Integer { low, high }) => {
                Typed::Integer(value, Some((*low, *high)))
            }
            other => panic!("{other:?} is not widened"),
        },
        Expression::UnsignedAbsolute(of) => unsigned_absolute(evaluate(of, scope)?)?,
        Expression::IsAscii(of) => Typed::Bool(text(of)?.is_ascii()),
        Expression::Length(of) => count(match evaluate(of, scope)? {
            Typed::Text(text) => text.len(),
            Typed::List(items) => items.len(),
            other => panic!("length of {other:?}"),
        }),
        Expression::Characters(of) => count(text(of)?.chars().count()),
        Expression::StartsWith(of, with) => Typed::Bool(text(of)?.starts_with(&text(with)?)),
        Expression::EndsWith(of, with) => Typed::Bool(text(of)?.ends_with(&text(with)?)),
        Expression::Contains(of, with) => Typed::Bool(match evaluate(of, scope)? {
            Typed::Text(of) => of.contains(&text(with)?),
            Typed::List(items) => {
                let item = evaluate(with, scope)?;
                items
                    .iter()
                    .any(|one| compare(Comparison::Equal, one, &item))
            }
            other => panic!("{other:?} contains nothing"),
        }),
        Expression::Among(of, list) => {
            let of = evaluate(of, scope)?;
            let listed: Result<Vec<_>, _> = list.iter().map(|one| evaluate(one, scope)).collect();
            let mut listed = listed?.into_iter();
            Typed::Bool(listed.any(|one| compare(Comparison::Equal, &of, &one)))
        }
        Expression::Matches(of, pattern) => {
            let pattern = regex_lite::Regex::new(&text(pattern)?).unwrap();
            Typed::Bool(pattern.is_match(&text(of)?))
        }
        Expression::All(of, variable, body) | Expression::NoneOr(of, variable, body) => {
            Typed::Bool(each(of, variable, body, scope)?.all(|one| one))
        }
        Expression::Any(of, variable, body) | Expression::SomeAnd(of, variable, body) => {
            Typed::Bool(each(of, variable, body, scope)?.any(|one| one))
        }
        Expression::IsSome(of) => Typed::Bool(match evaluate(of, scope)? {
            Typed::Optional(of) => of.is_some(),
            other => panic!("{other:?} is no optional"),
        }),
        Expression::IsFinite(of) => Typed::Bool(is_finite(&evaluate(of, scope)?)),
        Expression::Native {
            parameter, holds, ..
        } => Typed::Bool(holds(&own(&scope.parameters[parameter]).to_string()).unwrap()),
        // Something that depends on everything in a way that nobody can tell.
        Expression::Opaque(text) => {
            let mut hasher = DefaultHasher::new();
            let mut parameters: Vec<_> = scope.parameters.iter().collect();
            parameters.sort_by_key(|(name, _)| **name);
            format!("{text}{parameters:?}").hash(&mut hasher);
            Typed::Bool(hasher.finish().is_multiple_of(2))
        }
    })
}

/// What the body says of each item, evaluated as far as it is asked for.
fn each(
    of: &Expression,
    variable: &'static str,
    body: &Expression,
    scope: &Scope,
) -> Result<impl Iterator<Item = bool>, Panicked> {
    let items = match evaluate(of, scope)? {
        Typed::List(items) => items,
        Typed::Optional(content) => content.into_iter().map(|content| *content).collect(),
        other => panic!("{other:?} has no items"),
    };
    let answers: Result<Vec<bool>, _> = items
        .into_iter()
        .map(|item| {
            let mut inner = scope.clone();
            inner.variables.push((variable, item));
            match evaluate(body, &inner)? {
                Typed::Bool(value) => Ok(value),
                other => panic!("{other:?} is no truth value"),
            }
        })
        .collect();
    Ok(answers?.into_iter())
}

fn named(value: Option<Value>) -> Typed {
    match value.unwrap() {
        Value::Bool(value) => Typed::Bool(value),
        Value::String(text) => Typed::Text(text),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Typed::Integer(value.into(), None),
            None => Typed::Double(number.as_f64().unwrap()),
        },
        other => panic!("{other} is no constant"),
    }
}

fn count(value: usize) -> Typed {
    let ends = (0, i128::try_from(usize::MAX).unwrap());
    Typed::Integer(i128::try_from(value).unwrap(), Some(ends))
}

fn fitting(value: Option<i128>, ends: Option<(i128, i128)>) -> Answer {
    let value = value.ok_or(Panicked)?;
    match ends {
        Some((low, high)) if !(low..=high).contains(&value) => Err(Panicked),
        _ => Ok(Typed::Integer(value, ends)),
    }
}

fn is_finite(of: &Typed) -> bool {
    match of {
        Typed::Double(value) => value.is_finite(),
        Typed::Single(value) => value.is_finite(),
        other => panic!("{other:?} is not a float"),
    }
}

fn absolute(of: Typed) -> Answer {
    match of {
        Typed::Integer(value, ends) => fitting(value.checked_abs(), ends),
        Typed::Double(value) => Ok(Typed::Double(value.abs())),
        Typed::Single(value) => Ok(Typed::Single(value.abs())),
        other => panic!("{other:?} has no absolute value"),
    }
}

fn unsigned_absolute(of: Typed) -> Answer {
    match of {
        Typed::Integer(value, ends) => {
            let ends = ends.map(|(low, high)| (0, high - low));
            fitting(value.checked_abs(), ends)
        }
        other => panic!("{other:?} has no unsigned absolute value"),
    }
}

fn arithmetic(operation: Operation, left: Typed, right: Typed) -> Answer {
    match (left, right) {
        (Typed::Integer(left, one), Typed::Integer(right, other)) => {
            let value = match operation {
                Operation::Add => left.checked_add(right),
                Operation::Subtract => left.checked_sub(right),
                Operation::Multiply => left.checked_mul(right),
                Operation::Remainder => left.checked_rem(right),
            };
            fitting(value, one.or(other))
        }
        (Typed::Double(left), Typed::Double(right)) => Ok(Typed::Double(match operation {
            Operation::Add => left + right,
            Operation::Subtract => left - right,
            Operation::Multiply => left * right,
            Operation::Remainder => left % right,
        })),
        other => panic!("{operation:?} of {other:?}"),
    }
}

fn compare(comparison: Comparison, left: &Typed, right: &Typed) -> bool {
    match (left, right) {
        (Typed::Bool(left), Typed::Bool(right)) => ordered(comparison, left, right),
        (Typed::Integer(left, _), Typed::Integer(right, _)) => ordered(comparison, left, right),
        (Typed::Double(left), Typed::Double(right)) => ordered(comparison, left, right),
        (Typed::Single(left), Typed::Single(right)) => ordered(comparison, left, right),
        (Typed::Text(left), Typed::Text(right)) => ordered(comparison, left, right),
        // A literal beside an `f32` is one itself.
        #[expect(clippy::cast_possible_truncation, reason = "as the compiler reads it")]
        (Typed::Single(left), Typed::Double(right)) => ordered(comparison, left, &(*right as f32)),
        #[expect(clippy::cast_possible_truncation, reason = "as the compiler reads it")]
        (Typed::Double(left), Typed::Single(right)) => ordered(comparison, &(*left as f32), right),
        other => panic!("{comparison:?} of {other:?}"),
    }
}

fn ordered<T: PartialOrd>(comparison: Comparison, left: &T, right: &T) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::AtMost => left <= right,
        Comparison::More => left > right,
        Comparison::AtLeast => left >= right,
    }
}
