//! Portable predicates as constant data, used by schemas, rules and compile-time findings.
//!
//! ```text
//! #[pre(count > 0 && !name.is_empty())]
//!
//! And(
//!     &Compare(More, &Parameter("count"), &Integer(0)),
//!     &Not(&Compare(Equal, &Length(&Parameter("name")), &Integer(0))),
//! )
//! ```
//!
//! The tree never says more than the native predicate computes: everything else is `Opaque`. It has no types; the [`TypeKind`] of
//! the parameter decides what a `Length` counts.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value;

use super::type_kind::TypeKind;

/// A part of a predicate.
#[derive(Clone, Copy, Debug)]
pub enum Expression {
    /// `true` and `false`
    Bool(bool),
    /// A whole number, of any integer type.
    Integer(i128),
    /// A number with a point.
    Float(f64),
    /// A string or a character.
    Text(&'static str),
    /// A named constant. Its value is read while the program runs; there is none if its type has operators of its own.
    Named {
        /// As typed.
        text: &'static str,
        /// Its value as JSON.
        value: fn() -> Option<Value>,
    },
    /// A parameter, by the name the model knows.
    Parameter(&'static str),
    /// The variable of the closure around it, such as `tag` in `tags.iter().all(|tag| ..)`; the innermost of its name.
    Variable(&'static str),
    /// `!x`
    Not(&'static Self),
    /// `a && b`
    And(&'static Self, &'static Self),
    /// `a || b`
    Or(&'static Self, &'static Self),
    /// A comparison such as `a < b`. `(a..=b).contains(&x)` becomes two of them, `x.is_empty()` becomes `x.len() == 0`.
    Compare(Comparison, &'static Self, &'static Self),
    /// An arithmetic operation such as `a + b`.
    Arithmetic(Operation, &'static Self, &'static Self),
    /// `-a`
    Negative(&'static Self),
    /// `x.abs()`. Of the least integer it panics or is that integer, as Rust is configured.
    Absolute(&'static Self),
    /// `x.unsigned_abs()`
    UnsignedAbsolute(&'static Self),
    /// `x as u32` as an operand, if that type holds every value of `x`: the operation has the wider type.
    Widened(&'static Self, &'static TypeKind),
    /// `x.len()`: bytes of a text, items of a list.
    Length(&'static Self),
    /// `x.chars().count()`
    Characters(&'static Self),
    /// `x.is_ascii()` of a text.
    IsAscii(&'static Self),
    /// `x.starts_with("..")`
    StartsWith(&'static Self, &'static Self),
    /// `x.ends_with("..")`
    EndsWith(&'static Self, &'static Self),
    /// `x.contains("..")` of a text, `x.contains(&item)` of a list.
    Contains(&'static Self, &'static Self),
    /// `[a, b].contains(&x)`, with `x` first.
    Among(&'static Self, &'static [Self]),
    /// `matches_pattern(&x, r"..")`
    Matches(&'static Self, &'static Self),
    /// `x.iter().all(|name| ..)`
    All(&'static Self, &'static str, &'static Self),
    /// `x.iter().any(|name| ..)`
    Any(&'static Self, &'static str, &'static Self),
    /// `x.is_some()`
    IsSome(&'static Self),
    /// `x.is_some_and(|name| ..)`
    SomeAnd(&'static Self, &'static str, &'static Self),
    /// `x.is_none_or(|name| ..)`
    NoneOr(&'static Self, &'static str, &'static Self),
    /// `x.is_finite()`
    IsFinite(&'static Self),
    /// A test of one parameter that only Rust can make, such as `matches!(mode, Mode::Fast)`.
    Native {
        /// As typed.
        text: &'static str,
        /// The parameter, by the name the model knows.
        parameter: &'static str,
        /// The answer for the parameter's value as JSON text; `None` if that is not a value of its type.
        holds: fn(&str) -> Option<bool>,
    },
    /// Anything else, as typed.
    Opaque(&'static str),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    AtMost,
    /// `a > b`
    More,
    /// `a >= b`
    AtLeast,
}

impl Comparison {
    /// Returns the comparison that holds exactly where this one does not, for ordered values.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::More,
            Self::More => Self::AtMost,
            Self::AtLeast => Self::Less,
        }
    }

    /// Returns the comparison itself if it is expected to hold, else the negated one.
    #[must_use]
    pub const fn expecting(self, expected: bool) -> Self {
        if expected { self } else { self.negated() }
    }

    /// Returns whether it holds of two values that are in this order.
    #[must_use]
    pub const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::More => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }

    /// Returns its operator, which Rust and CEL share.
    #[must_use]
    pub const fn operator(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Returns the equivalent comparison with its sides exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::AtMost => Self::AtLeast,
            Self::More => Self::Less,
            Self::AtLeast => Self::AtMost,
            same => same,
        }
    }
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a % b`, with the sign of the left side, as in Rust.
    Remainder,
}

impl Expression {
    /// Returns the operands of the expression.
    #[must_use]
    pub fn parts(&self) -> Vec<&'static Self> {
        match self {
            Self::Bool(_)
            | Self::Integer(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Named { .. }
            | Self::Parameter(_)
            | Self::Variable(_)
            | Self::Native { .. }
            | Self::Opaque(_) => Vec::new(),
            Self::Not(of)
            | Self::Negative(of)
            | Self::Absolute(of)
            | Self::UnsignedAbsolute(of)
            | Self::Widened(of, _)
            | Self::Length(of)
            | Self::Characters(of)
            | Self::IsAscii(of)
            | Self::IsSome(of)
            | Self::IsFinite(of) => vec![of],
            Self::And(a, b)
            | Self::Or(a, b)
            | Self::Compare(_, a, b)
            | Self::Arithmetic(_, a, b)
            | Self::StartsWith(a, b)
            | Self::EndsWith(a, b)
            | Self::Contains(a, b)
            | Self::Matches(a, b)
            | Self::All(a, _, b)
            | Self::Any(a, _, b)
            | Self::SomeAnd(a, _, b)
            | Self::NoneOr(a, _, b) => vec![a, b],
            Self::Among(of, list) => std::iter::once(*of).chain(*list).collect(),
        }
    }

    /// Returns the expression and everything in it, each before its operands.
    #[must_use]
    pub fn all(&'static self) -> Vec<&'static Self> {
        let inner = self.parts().into_iter().flat_map(Self::all);
        std::iter::once(self).chain(inner).collect()
    }

    /// Returns the parameters that it names.
    pub(crate) fn parameters(&'static self) -> BTreeSet<&'static str> {
        let name = |part: &'static Self| match part {
            Self::Parameter(name)
            | Self::Native {
                parameter: name, ..
            } => Some(*name),
            _ => None,
        };
        self.all().into_iter().filter_map(name).collect()
    }

    /// Creates a constant of the one type that `i128` does not hold; a larger value becomes the largest `i128`.
    #[must_use]
    #[allow(clippy::cast_possible_wrap, reason = "what would wrap is above")]
    pub const fn u128(value: u128) -> Self {
        if value > i128::MAX as u128 {
            return Self::Integer(i128::MAX);
        }
        Self::Integer(value as i128)
    }
}
