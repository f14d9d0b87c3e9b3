//! Predicates in negation normal form, and the constants and the finite types that they speak of.

use std::collections::BTreeSet;

use serde_json::{Number, Value, json};

use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::panics::guard;
use crate::contract::type_kind::TypeKind;
use crate::schema::normalize::percent_decode;

/// A predicate without negation.
#[derive(Clone, Debug)]
pub enum Normal {
    /// Split at `&&`.
    And(Vec<Self>),
    /// Split at `||`.
    Or(Vec<Self>),
    /// A quantifier over the items of a list, or over the value of an optional.
    Each {
        /// Whether the body must hold for all of them. If not, it must hold for at least one.
        every: bool,
        /// The list or the optional.
        of: &'static Expression,
        /// The name of what it holds.
        variable: &'static str,
        /// The formula that must hold for it.
        body: Box<Self>,
    },
    /// A test without logical operators, and its expected answer.
    Leaf {
        /// Neither a connective nor a quantifier.
        test: &'static Expression,
        /// The answer.
        expected: bool,
    },
}

impl Normal {
    /// Returns what must hold for a predicate to hold.
    #[must_use]
    pub fn of(expression: &'static Expression) -> Self {
        Self::expecting(expression, true)
    }

    /// Returns what must hold for a predicate to give this answer.
    #[must_use]
    pub fn expecting(expression: &'static Expression, expected: bool) -> Self {
        let each = |every: bool, of, variable, body| Self::Each {
            every: every == expected,
            of,
            variable,
            body: Box::new(Self::expecting(body, expected)),
        };
        match expression {
            Expression::Not(of) => Self::expecting(of, !expected),
            Expression::And(left, right) => Self::joined(left, right, expected, expected),
            Expression::Or(left, right) => Self::joined(left, right, !expected, expected),
            Expression::All(of, variable, body) | Expression::NoneOr(of, variable, body) => {
                each(true, of, variable, body)
            }
            Expression::Any(of, variable, body) | Expression::SomeAnd(of, variable, body) => {
                each(false, of, variable, body)
            }
            Expression::Compare(
                comparison @ (Comparison::Equal | Comparison::NotEqual),
                of,
                Expression::Bool(value),
            )
            | Expression::Compare(
                comparison @ (Comparison::Equal | Comparison::NotEqual),
                Expression::Bool(value),
                of,
            ) => {
                let same = *value == (*comparison == Comparison::Equal);
                Self::expecting(of, same == expected)
            }
            test => Self::Leaf { test, expected },
        }
    }

    fn joined(
        left: &'static Expression,
        right: &'static Expression,
        all: bool,
        expected: bool,
    ) -> Self {
        let mut parts = Vec::new();
        for side in [left, right] {
            match (Self::expecting(side, expected), all) {
                (Self::And(inner), true) | (Self::Or(inner), false) => parts.extend(inner),
                (other, _) => parts.push(other),
            }
        }
        if all {
            Self::And(parts)
        } else {
            Self::Or(parts)
        }
    }

    /// Its clauses: what must all hold.
    pub(crate) fn clauses(self) -> Vec<Self> {
        match self {
            Self::And(parts) => parts,
            other => vec![other],
        }
    }

    /// The parameters that it names.
    pub(crate) fn parameters(&self) -> BTreeSet<&'static str> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().flat_map(Self::parameters).collect(),
            Self::Each { of, body, .. } => &of.parameters() | &body.parameters(),
            Self::Leaf { test, .. } => test.parameters(),
        }
    }
}

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
    /// Returns `None` where Rust may compute another value or panic, as for a sum outside the type.
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

    /// Compares two constants whose type is not known here: there is no arithmetic, and floats must compare alike in both widths.
    #[must_use]
    pub fn compared(comparison: Comparison, left: &Expression, right: &Expression) -> Option<bool> {
        let value = |expression| Self::of(expression, TypeKind::Opaque);
        let order = match (value(left)?, value(right)?) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(&right),
            (Self::Integer(left), Self::Integer(right)) => left.cmp(&right),
            (Self::Text(left), Self::Text(right)) => left.cmp(&right),
            (Self::Float(left), Self::Float(right)) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "it is what `f32` makes of it"
                )]
                let single = (left as f32).partial_cmp(&(right as f32))?;
                left.partial_cmp(&right)
                    .filter(|double| *double == single)?
            }
            _ => return None,
        };
        Some(comparison.holds(order))
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

/// The most values of a type that a test is asked about.
const MOST: usize = 1_000;

/// The most references that are followed one after another.
const DEPTH: usize = 16;

/// All values that `schema` admits, if it lists them; `root` holds the definitions it refers to.
///
/// There may be more here than the schema admits, where further keywords stand beside the list; never fewer.
#[must_use]
pub fn finite_values(schema: &Value, root: &Value) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    collect(schema, root, DEPTH, &mut found)?;
    Some(found)
}

/// Returns the values of a type for which the test holds. Returns `None` if the test does not answer for each of them.
///
/// A test that panics is a violation whichever way it is asked, so neither it nor its opposite can be published.
pub fn passing_values(
    values: &[Value],
    expected: bool,
    holds: fn(&str) -> Option<bool>,
) -> Option<Vec<Value>> {
    let mut passing = Vec::new();
    for value in values {
        if answer(value, holds)? == expected {
            passing.push(value.clone());
        }
    }
    Some(passing)
}

/// Returns the answer of the test for one value. Returns `None` if it panics, or if its type refuses the value.
pub(crate) fn answer(value: &Value, holds: fn(&str) -> Option<bool>) -> Option<bool> {
    let text = value.to_string();
    guard(|| holds(&text)).ok().flatten()
}

fn collect(schema: &Value, root: &Value, depth: usize, found: &mut Vec<Value>) -> Option<()> {
    let keywords = schema.as_object()?;
    let depth = depth.checked_sub(1)?;
    if let Some(only) = keywords.get("const") {
        return add(only.clone(), found);
    }
    if let Some(Value::Array(listed)) = keywords.get("enum") {
        return listed.iter().try_for_each(|one| add(one.clone(), found));
    }
    if let Some(reference) = keywords.get("$ref") {
        let pointer = percent_decode(reference.as_str()?.strip_prefix('#')?)?;
        return collect(root.pointer(&pointer)?, root, depth, found);
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = keywords.get(keyword) {
            let mut branches = branches.iter();
            return branches.try_for_each(|branch| collect(branch, root, depth, found));
        }
    }
    let types = match keywords.get("type")? {
        Value::Array(names) => names.as_slice(),
        only => std::slice::from_ref(only),
    };
    types.iter().try_for_each(|name| match name.as_str()? {
        "boolean" => {
            add(json!(true), found)?;
            add(json!(false), found)
        }
        "null" => add(Value::Null, found),
        _ => None,
    })
}

fn add(value: Value, found: &mut Vec<Value>) -> Option<()> {
    if !found.contains(&value) {
        found.push(value);
    }
    (found.len() <= MOST).then_some(())
}
