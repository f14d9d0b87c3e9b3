//! Lowers floating-point comparisons, which every engine evaluates alike as IEEE 754 doubles.
//!
//! An `f32` is the number of the arguments rounded to fewer digits, for which CEL has no word: its bounds are moved outward
//! to the neighbour that can no longer be rounded into them, and it is not computed with.

use super::cel::Cel;
use super::condition::Rules;
use super::number::{is_constant, operator};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;
use crate::schema::lower::constant::Constant;

const DOUBLE: TypeKind = TypeKind::Float { single: false };

impl Rules<'_> {
    /// A comparison that is as expected, of two numbers of this precision.
    pub(super) fn compare_floats(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
        (single, expected): (bool, bool),
    ) -> Option<Cel> {
        let (computed_left, computed_right) = (is_computed(left), is_computed(right));
        if !computed_left && !computed_right {
            // Numbers of JSON are ordered: there is no NaN among them.
            let comparison = if expected {
                comparison
            } else {
                comparison.negated()
            };
            // How `x.is_nan()` is read.
            if !is_constant(left) && self.float(left)? == self.float(right)? {
                let same = !matches!(
                    comparison,
                    Comparison::NotEqual | Comparison::Less | Comparison::More
                );
                return Some(Cel::bool(same));
            }
            return if single {
                self.compare_singles(comparison, left, right)
            } else {
                self.relation(comparison, left, right)
            };
        }
        let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        // To cel-python one NaN equals another.
        if single || (computed_left && computed_right && !ordered) {
            return None;
        }
        let mut relation = self.relation(comparison, left, right)?;
        // The `cel` of Rust refuses to order a NaN.
        relation.fails = true;
        Some(if expected { relation } else { relation.not() })
    }

    /// Whether a number is finite: all of JSON are.
    pub(super) fn is_finite(&self, of: &Expression, single: bool, expected: bool) -> Option<Cel> {
        let value = self.float(of)?;
        if !is_computed(of) {
            // But one may be too large for an `f32`.
            return (expected || !single).then(|| Cel::bool(expected));
        }
        let (low, high) = (Cel::float(f64::MIN)?, Cel::float(f64::MAX)?);
        let mut finite = Cel::relation("<=", &low, &value).and(Cel::relation("<=", &value, &high));
        finite.fails = true;
        let finite = (!single).then_some(finite)?;
        Some(if expected { finite } else { finite.not() })
    }

    fn relation(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> Option<Cel> {
        let (left, right) = (self.float(left)?, self.float(right)?);
        Some(Cel::relation(operator(comparison), &left, &right))
    }

    /// A comparison of an `f32`, or a weaker one.
    fn compare_singles(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> Option<Cel> {
        if is_constant(left) {
            return self.compare_singles(comparison.mirrored(), right, left);
        }
        if !is_constant(right) {
            // Rounding keeps the order of two numbers, but may make them equal.
            let strict = matches!(
                comparison,
                Comparison::Less | Comparison::More | Comparison::NotEqual
            );
            return strict.then(|| self.relation(comparison, left, right))?;
        }
        let (value, bound) = (self.float(left)?, single(right)?);
        let beyond = |operator, bound: f32| {
            Some(Cel::relation(operator, &value, &Cel::float(bound.into())?))
        };
        match comparison {
            Comparison::Less | Comparison::More | Comparison::NotEqual => {
                beyond(operator(comparison), bound)
            }
            Comparison::AtMost => beyond("<", bound.next_up()),
            Comparison::AtLeast => beyond(">", bound.next_down()),
            Comparison::Equal => {
                Some(beyond(">", bound.next_down())?.and(beyond("<", bound.next_up())?))
            }
        }
    }

    pub(super) fn float(&self, expression: &Expression) -> Option<Cel> {
        if is_constant(expression) {
            return Cel::float(constant(expression, DOUBLE)?);
        }
        match expression {
            Expression::Parameter(_) | Expression::Variable(_) => {
                let place = self.place(expression)?;
                matches!(place.kind, TypeKind::Float { .. })
                    .then(|| Cel::call("double", &place.value))
            }
            Expression::Negative(of) => Some(self.float(of)?.negative()),
            Expression::Absolute(of) => Some(self.float(of)?.absolute("0.0")),
            Expression::Arithmetic(operation, left, right) => {
                let operator = match operation {
                    Operation::Add => "+",
                    Operation::Subtract => "-",
                    Operation::Multiply => "*",
                    // CEL has it for whole numbers alone.
                    Operation::Remainder => return None,
                };
                Some(Cel::arithmetic(
                    operator,
                    &self.float(left)?,
                    &self.float(right)?,
                ))
            }
            _ => None,
        }
    }
}

/// Whether it may be what no JSON can say: infinite, or no number.
fn is_computed(expression: &Expression) -> bool {
    matches!(expression, Expression::Arithmetic(..)) && !is_constant(expression)
        || matches!(expression, Expression::Negative(of) | Expression::Absolute(of) if is_computed(of))
}

fn constant(expression: &Expression, kind: TypeKind) -> Option<f64> {
    match Constant::of(expression, kind)? {
        Constant::Float(value) => Some(value),
        _ => None,
    }
}

/// A constant as the `f32` it is in Rust.
///
/// The tree holds it as `f64`. What lies halfway between two `f32` there was perhaps on one side of it in the source.
fn single(expression: &Expression) -> Option<f32> {
    let value = constant(expression, TypeKind::Float { single: true })?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to the nearest, as the compiler rounds the literal"
    )]
    let nearest = value as f32;
    let halfway = |neighbour: f32| f64::from(nearest).midpoint(neighbour.into());
    #[allow(clippy::float_cmp, reason = "a number halfway between two is exact")]
    let ambiguous = value == halfway(nearest.next_up()) || value == halfway(nearest.next_down());
    (nearest.is_finite() && !ambiguous).then_some(nearest)
}
