//! The constant operand of a comparison.

use serde_json::{Number, Value};

use crate::contract::expression::{Expression, Operation};
use crate::contract::panics::guard;
use crate::contract::type_kind::TypeKind;

/// A value that a predicate compares with.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// A text or a character.
    Text(String),
}

/// The ends of a count in Rust.
pub(super) const COUNTS: (i128, i128) = (0, usize::MAX as i128);

impl Constant {
    /// The value of an expression without parameters, computed in the type that `kind` stands for.
    ///
    /// There is none where Rust might compute another, or none at all: a sum outside the type wraps or panics.
    #[must_use]
    pub fn of(expression: &Expression, kind: TypeKind) -> Option<Self> {
        Some(match expression {
            Expression::Bool(value) => Self::Bool(*value),
            Expression::Integer(value) => Self::Integer(*value),
            Expression::Float(value) => Self::Float(*value),
            Expression::Text(value) => Self::Text((*value).to_owned()),
            Expression::Named { value, .. } => Self::read(guard(value).ok()??)?,
            Expression::Negative(of) => match Self::of(of, kind)? {
                Self::Integer(value) => Self::within(value.checked_neg()?, kind)?,
                Self::Float(value) => Self::Float(-value),
                _ => return None,
            },
            Expression::Arithmetic(operation, left, right) => {
                match (Self::of(left, kind)?, Self::of(right, kind)?) {
                    (Self::Integer(left), Self::Integer(right)) => {
                        Self::within(integers(*operation, left, right)?, kind)?
                    }
                    (Self::Float(left), Self::Float(right)) => {
                        Self::Float(floats(*operation, left, right, kind)?)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// The items of a named list.
    pub(super) fn list(expression: &Expression) -> Option<Vec<Self>> {
        let Expression::Named { value, .. } = expression else {
            return None;
        };
        match guard(value).ok()?? {
            Value::Array(items) => items.into_iter().map(Self::read).collect(),
            _ => None,
        }
    }

    fn read(value: Value) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(value),
            Value::String(text) => Self::Text(text),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => Self::Integer(value.into()),
                (None, Some(value)) => Self::Integer(value.into()),
                (None, None) => Self::Float(number.as_f64()?),
            },
            _ => return None,
        })
    }

    fn within(value: i128, kind: TypeKind) -> Option<Self> {
        let fits = matches!(kind, TypeKind::Integer { low, high } if (low..=high).contains(&value));
        fits.then_some(Self::Integer(value))
    }

    /// The value in JSON, if JSON can carry it without loss.
    pub(super) fn json(&self) -> Option<Value> {
        match self {
            Self::Bool(value) => Some(Value::Bool(*value)),
            Self::Integer(value) => integer(*value),
            Self::Float(value) => float(*value),
            Self::Text(text) => Some(Value::String(text.clone())),
        }
    }
}

fn integers(operation: Operation, left: i128, right: i128) -> Option<i128> {
    match operation {
        Operation::Add => left.checked_add(right),
        Operation::Subtract => left.checked_sub(right),
        Operation::Multiply => left.checked_mul(right),
        Operation::Remainder => left.checked_rem(right),
    }
}

/// In `f32` every step is rounded once more.
fn floats(operation: Operation, left: f64, right: f64, kind: TypeKind) -> Option<f64> {
    if kind != (TypeKind::Float { single: false }) {
        return None;
    }
    Some(match operation {
        Operation::Add => left + right,
        Operation::Subtract => left - right,
        Operation::Multiply => left * right,
        Operation::Remainder => left % right,
    })
}

/// An integer in JSON; here a number holds 64 bits exactly and no more.
pub(super) fn integer(value: i128) -> Option<Value> {
    let natural = u64::try_from(value).map(Number::from);
    natural
        .or_else(|_| i64::try_from(value).map(Number::from))
        .ok()
        .map(Value::Number)
}

/// A finite float in JSON: without a fraction where it has none, as people write bounds.
pub(super) fn float(value: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an integer from -2^53 to 2^53"
        )]
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}
