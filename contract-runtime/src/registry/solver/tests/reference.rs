//! A slow reference evaluator of expressions.

use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

const SMALL: TypeKind = TypeKind::Integer { low: -3, high: 3 };

pub(super) const PARAMETERS: [(&str, TypeKind); 9] = [
    ("a", SMALL),
    ("b", SMALL),
    ("flag", TypeKind::Bool),
    ("float", TypeKind::Float { single: false }),
    ("other", TypeKind::Float { single: false }),
    ("single", TypeKind::Float { single: true }),
    ("text", TypeKind::Text),
    ("maybe", TypeKind::Optional(&SMALL)),
    ("list", TypeKind::List(&SMALL)),
];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i128),
    Float(f64),
    Single(f32),
    Bool(bool),
    Text(&'static str),
    Maybe(Option<i128>),
    List(Vec<i128>),
}

const FLOATS: [f64; 12] = [
    f64::NEG_INFINITY,
    -1.0,
    -0.1,
    -0.0,
    0.0,
    0.1,
    0.100_000_001_490_116_12,
    0.5,
    1.0,
    1.000_000_000_000_000_2,
    f64::INFINITY,
    f64::NAN,
];

fn values(name: &str) -> Vec<Value> {
    let small = -3..=3_i128;
    match name {
        "a" | "b" => small.map(Value::Integer).collect(),
        "flag" => vec![Value::Bool(false), Value::Bool(true)],
        "float" | "other" => FLOATS.map(Value::Float).to_vec(),
        #[allow(clippy::cast_possible_truncation, reason = "the nearest is as good")]
        "single" => FLOATS.map(|float| Value::Single(float as f32)).to_vec(),
        "text" => [
            "",
            "a",
            "ab",
            "b",
            "ba",
            "é",
            "éa",
            "aaaa",
            "😀",
            "😀😀b",
            "aaaaaaaaaaaaaaaa",
            "aaaaaaaaaaaaaaab",
        ]
        .map(Value::Text)
        .to_vec(),
        "maybe" => small.map(Some).chain([None]).map(Value::Maybe).collect(),
        _ => {
            let mut lists = vec![vec![]];
            for one in small.clone() {
                lists.push(vec![one]);
                lists.extend(small.clone().map(|other| vec![one, other]));
            }
            lists.into_iter().map(Value::List).collect()
        }
    }
}

pub(super) type Arguments = Vec<(&'static str, Value)>;

/// How many combinations there are to be gone through.
pub(super) fn size(expressions: &[&'static Expression]) -> usize {
    let text = format!("{expressions:?}");
    let named = PARAMETERS.map(|(name, _)| name).into_iter();
    let named = named.filter(|name| text.contains(&format!("Parameter({name:?})")));
    named.map(|name| values(name).len()).product()
}

/// Every combination of some values of the parameters that are named.
pub(super) fn samples(
    expressions: impl Iterator<Item = &'static Expression>,
) -> impl Iterator<Item = Arguments> {
    let text: Vec<String> = expressions.map(|one| format!("{one:?}")).collect();
    let text = text.concat();
    let names = PARAMETERS.map(|(name, _)| name);
    let names = names
        .into_iter()
        .filter(move |name| text.contains(&format!("Parameter({name:?})")));
    let mut all: Box<dyn Iterator<Item = Arguments>> = Box::new(std::iter::once(Vec::new()));
    for name in names {
        let values = values(name);
        all = Box::new(all.flat_map(move |arguments| {
            values.clone().into_iter().map(move |value| {
                let mut arguments = arguments.clone();
                arguments.push((name, value));
                arguments
            })
        }));
    }
    all
}

/// The answer of a condition; `None` where the expression means nothing.
pub(super) fn holds(of: &Expression, arguments: &Arguments) -> Option<bool> {
    match value(of, arguments)? {
        Value::Bool(answer) => Some(answer),
        _ => None,
    }
}

fn value(of: &Expression, arguments: &Arguments) -> Option<Value> {
    let value = |of| value(of, arguments);
    let holds = |of| holds(of, arguments);
    let each = |of, name: &'static str, body: &Expression, any: bool| {
        let items: Vec<i128> = match value(of)? {
            Value::Maybe(one) => one.into_iter().collect(),
            Value::List(items) => items,
            _ => return None,
        };
        for item in items {
            let mut inside = arguments.clone();
            inside.push((name, Value::Integer(item)));
            if self::holds(body, &inside)? == any {
                return Some(Value::Bool(any));
            }
        }
        Some(Value::Bool(!any))
    };
    Some(match of {
        Expression::Bool(one) => Value::Bool(*one),
        Expression::Integer(one) => Value::Integer(*one),
        Expression::Float(one) => Value::Float(*one),
        Expression::Text(one) => Value::Text(one),
        Expression::Parameter(name) | Expression::Variable(name) => {
            let found = arguments.iter().rev().find(|(one, _)| one == name);
            found?.1.clone()
        }
        Expression::Not(of) => Value::Bool(!holds(of)?),
        Expression::And(a, b) => Value::Bool(holds(a)? && holds(b)?),
        Expression::Or(a, b) => Value::Bool(holds(a)? || holds(b)?),
        Expression::Compare(comparison, a, b) => {
            Value::Bool(compared(*comparison, value(a)?, value(b)?)?)
        }
        Expression::Arithmetic(Operation::Remainder, a, b) => match (value(a)?, value(b)?) {
            (Value::Integer(a), Value::Integer(b)) => Value::Integer(a.checked_rem(b)?),
            _ => return None,
        },
        Expression::Length(of) => Value::Integer(match value(of)? {
            Value::Text(text) => text.len() as i128,
            Value::List(items) => items.len() as i128,
            _ => return None,
        }),
        Expression::Characters(of) => match value(of)? {
            Value::Text(text) => Value::Integer(text.chars().count() as i128),
            _ => return None,
        },
        Expression::StartsWith(a, b) | Expression::EndsWith(a, b) | Expression::Contains(a, b) => {
            match (of, value(a)?, value(b)?) {
                (Expression::StartsWith(..), Value::Text(a), Value::Text(b)) => {
                    Value::Bool(a.starts_with(b))
                }
                (Expression::EndsWith(..), Value::Text(a), Value::Text(b)) => {
                    Value::Bool(a.ends_with(b))
                }
                (_, Value::Text(a), Value::Text(b)) => Value::Bool(a.contains(b)),
                (Expression::Contains(..), Value::List(a), Value::Integer(b)) => {
                    Value::Bool(a.contains(&b))
                }
                _ => return None,
            }
        }
        Expression::Among(of, list) => {
            let of = value(of)?;
            let mut found = false;
            for one in *list {
                found |= compared(Comparison::Equal, of.clone(), value(one)?)?;
            }
            Value::Bool(found)
        }
        Expression::All(of, name, body) | Expression::NoneOr(of, name, body) => {
            each(of, name, body, false)?
        }
        Expression::Any(of, name, body) | Expression::SomeAnd(of, name, body) => {
            each(of, name, body, true)?
        }
        Expression::IsSome(of) => match value(of)? {
            Value::Maybe(one) => Value::Bool(one.is_some()),
            _ => return None,
        },
        Expression::IsFinite(of) => match value(of)? {
            Value::Float(one) => Value::Bool(one.is_finite()),
            Value::Single(one) => Value::Bool(one.is_finite()),
            _ => return None,
        },
        _ => return None,
    })
}

fn compared(comparison: Comparison, a: Value, b: Value) -> Option<bool> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "so a literal of `f32` is read"
    )]
    let (a, b) = match (a, b) {
        (Value::Single(a), Value::Float(b)) => (Value::Single(a), Value::Single(b as f32)),
        (Value::Float(a), Value::Single(b)) => (Value::Single(a as f32), Value::Single(b)),
        same => same,
    };
    let order = match (&a, &b) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Single(a), Value::Single(b)) => a.partial_cmp(b),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => return None,
    };
    Some(match comparison {
        Comparison::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
        Comparison::NotEqual => !order.is_some_and(std::cmp::Ordering::is_eq),
        Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
        Comparison::AtMost => order.is_some_and(std::cmp::Ordering::is_le),
        Comparison::More => order.is_some_and(std::cmp::Ordering::is_gt),
        Comparison::AtLeast => order.is_some_and(std::cmp::Ordering::is_ge),
    })
}
