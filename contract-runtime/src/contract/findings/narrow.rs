//! Narrows domains to the values for which a test has an answer.

use super::domain::{Aspect, Domain, FINITE, Known, Range, Value, same};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

/// How many numbers the end of a range is moved at once by a test of their remainder.
const STEPS: u32 = 64;

/// What the parts of an expression mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'v, 'a> {
    /// The values of constants and tests that expressions name.
    pub(crate) known: &'v [Known<'a>],
    /// The variables of the closures around the expression, and the index of the domain of each; the innermost is the last.
    pub(crate) variables: &'v [(&'static str, usize)],
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) range: Range,
    pub(crate) nan: bool,
    pub(crate) kind: TypeKind,
    /// The domain that it is a number of; a constant has none.
    pub(crate) place: Option<(usize, Aspect)>,
    /// It is the remainder by this number, or by 0 the number itself.
    pub(crate) by: i128,
    text: Option<&'a str>,
}

impl<'a> Reading<'_, 'a> {
    /// The index of the domain of a parameter or a variable.
    pub(crate) const fn find(&self, domains: &[Domain<'_>], of: &Expression) -> Option<usize> {
        match of {
            Expression::Parameter(name)
            | Expression::Native {
                parameter: name, ..
            } => {
                let mut index = 0;
                while index < domains.len() {
                    if same(domains[index].name, name) {
                        return Some(index);
                    }
                    index += 1;
                }
                None
            }
            Expression::Variable(name) => {
                let mut rest = self.variables;
                while let Some(((one, index), outer)) = rest.split_last() {
                    if same(one, name) {
                        return Some(*index);
                    }
                    rest = outer;
                }
                None
            }
            _ => None,
        }
    }

    /// Takes values away for which the test has another answer. Returns `false` if none is left.
    pub(crate) const fn narrow(
        &self,
        domains: &mut [Domain<'a>],
        test: &Expression,
        expected: bool,
    ) -> bool {
        let (of, value) = match test {
            Expression::Parameter(_) | Expression::Variable(_) => {
                let truth = Expression::Bool(true);
                return self.compare(domains, (Comparison::Equal, test, &truth), expected);
            }
            Expression::Compare(comparison, left, right) => {
                return self.compare(domains, (*comparison, left, right), expected);
            }
            Expression::Bool(_) | Expression::Named { .. } => {
                return !matches!(self.value(test), Value::Bool(value) if value != expected);
            }
            Expression::StartsWith(of, part)
            | Expression::EndsWith(of, part)
            | Expression::Contains(of, part) => (*of, self.value(part)),
            Expression::IsSome(of) | Expression::IsFinite(of) => (*of, Value::Unknown),
            Expression::Native { .. } => (test, self.value(test)),
            _ => return true,
        };
        let Some(index) = self.find(domains, of) else {
            return true;
        };
        let mut domain = domains[index];
        let is_whole = matches!(of, Expression::Parameter(_));
        match (test, domain.kind, value) {
            (Expression::Native { .. }, _, Value::Values { holding, failing }) => {
                domain.values &= !(if expected { failing } else { holding });
            }
            (Expression::IsSome(_), ..) if is_whole && domain.is_optional => {
                if expected {
                    domain.none = false;
                } else {
                    domain = domain.without_value();
                }
            }
            (Expression::IsFinite(_), TypeKind::Float { .. }, _) if expected => {
                domain.nan = false;
                domain = domain.narrowed(Aspect::Value, FINITE);
            }
            (Expression::IsFinite(_), TypeKind::Float { .. }, _) => {
                let least = domain.ranges[0].meet(Range::only(FINITE.low - 1));
                let most = domain.ranges[0].meet(Range::only(FINITE.high + 1));
                let infinite = least.hull(most);
                domain = domain.narrowed(Aspect::Value, infinite);
            }
            // An empty list contains nothing.
            (Expression::Contains(..), TypeKind::List(_), _) if expected => {
                let filled = Range::new(1, i128::MAX);
                domain = domain.narrowed(Aspect::Length, filled);
            }
            (_, TypeKind::Text, Value::Text(part)) => {
                domain = domain.affixed(test, part, expected);
            }
            _ => {}
        }
        domains[index] = domain;
        !domain.is_empty()
    }

    const fn compare(
        &self,
        domains: &mut [Domain<'a>],
        (comparison, left, right): (Comparison, &Expression, &Expression),
        expected: bool,
    ) -> bool {
        let Some((left, right)) = self.sides(domains, left, right) else {
            return true;
        };
        // NaN is unequal to everything, and compares in no other way.
        let with_nan = matches!(comparison, Comparison::NotEqual) == expected;
        if (left.nan && left.range.is_empty()) || (right.nan && right.range.is_empty()) {
            return with_nan;
        }
        let comparison = comparison.expecting(expected);
        restrict(domains, &left, (comparison, &right), with_nan)
            && restrict(domains, &right, (comparison.mirrored(), &left), with_nan)
    }

    /// Both sides of a comparison of numbers, or of a text with a constant.
    pub(crate) const fn sides(
        &self,
        domains: &[Domain<'_>],
        left: &Expression,
        right: &Expression,
    ) -> Option<(Side<'a>, Side<'a>)> {
        match (self.side(domains, left), self.side(domains, right)) {
            (Some(left), Some(right)) => match (left.kind, right.kind) {
                (TypeKind::Integer { .. }, TypeKind::Integer { .. })
                | (TypeKind::Float { .. }, TypeKind::Float { .. })
                | (TypeKind::Bool, TypeKind::Bool) => Some((left, right)),
                _ => None,
            },
            (Some(left), None) => match self.constant(right, left.kind) {
                Some(right) => Some((left, right)),
                None => None,
            },
            (None, Some(right)) => match self.constant(left, right.kind) {
                Some(left) => Some((left, right)),
                None => None,
            },
            (None, None) => None,
        }
    }

    const fn constant(&self, of: &Expression, kind: TypeKind) -> Option<Side<'a>> {
        let value = self.value(of);
        let Some((range, nan)) = value.as_kind(kind) else {
            return None;
        };
        Some(Side {
            range,
            nan,
            kind,
            place: None,
            by: 0,
            text: match value {
                Value::Text(text) => Some(text),
                _ => None,
            },
        })
    }

    const fn side(&self, domains: &[Domain<'_>], of: &Expression) -> Option<Side<'a>> {
        let (of, aspect) = match of {
            Expression::Length(of) => (*of, Aspect::Length),
            Expression::Characters(of) => (*of, Aspect::Characters),
            Expression::Arithmetic(Operation::Remainder, of, by) => {
                return match (self.side(domains, of), self.value(by)) {
                    (Some(side), Value::Integer(by)) => side.remainder(by),
                    _ => None,
                };
            }
            of => (of, Aspect::Value),
        };
        let Some(index) = self.find(domains, of) else {
            return None;
        };
        let domain = &domains[index];
        let kind = match (domain.kind, aspect) {
            _ if domain.is_optional && matches!(of, Expression::Parameter(_)) => return None,
            (TypeKind::Optional(_) | TypeKind::List(_) | TypeKind::Opaque, Aspect::Value) => {
                return None;
            }
            (kind, Aspect::Value) => kind,
            (TypeKind::Text | TypeKind::List(_), Aspect::Length)
            | (TypeKind::Text, Aspect::Characters) => TypeKind::Integer {
                low: 0,
                high: i64::MAX as i128,
            },
            _ => return None,
        };
        Some(Side {
            range: domain.ranges[aspect as usize],
            nan: domain.nan,
            kind,
            place: Some((index, aspect)),
            by: 0,
            text: None,
        })
    }

    /// The value of a constant, or what is known of a test.
    pub(crate) const fn value(&self, of: &Expression) -> Value<'a> {
        match of {
            Expression::Bool(value) => Value::Bool(*value),
            Expression::Integer(value) => Value::Integer(*value),
            Expression::Float(value) => Value::Float(*value),
            Expression::Text(text) => Value::Text(text),
            Expression::Named { text, .. } | Expression::Native { text, .. } => {
                let mut rest = self.known;
                while let Some((one, others)) = rest.split_first() {
                    if same(one.text, text) {
                        return one.value;
                    }
                    rest = others;
                }
                Value::Unknown
            }
            Expression::Negative(of) => match self.value(of) {
                Value::Integer(value) => Value::Integer(value.saturating_neg()),
                Value::Float(value) => Value::Float(-value),
                _ => Value::Unknown,
            },
            Expression::Arithmetic(operation, left, right) => {
                let (Value::Integer(left), Value::Integer(right)) =
                    (self.value(left), self.value(right))
                else {
                    return Value::Unknown;
                };
                let result = match operation {
                    Operation::Add => left.checked_add(right),
                    Operation::Subtract => left.checked_sub(right),
                    Operation::Multiply => left.checked_mul(right),
                    Operation::Remainder => None,
                };
                match result {
                    Some(result) => Value::Integer(result),
                    None => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }
}

/// Narrows one side of a comparison by the other one. Returns `false` if no value is left.
const fn restrict<'a>(
    domains: &mut [Domain<'a>],
    side: &Side<'a>,
    (comparison, other): (Comparison, &Side<'a>),
    with_nan: bool,
) -> bool {
    let Some((index, aspect)) = side.place else {
        return true;
    };
    let mut domain = domains[index];
    domain.nan &= with_nan;
    let mut range = domain.ranges[aspect as usize];
    if other.nan && with_nan {
        // Whatever this side is, the other one may be NaN.
    } else if side.by == 0 {
        range = range.compared(comparison, other.range);
    } else if side.range.compared(comparison, other.range).is_empty() {
        range = Range::EMPTY;
    } else {
        range = remaining(range, side.by, (comparison, other.range));
    }
    domain = domain.narrowed(aspect, range);
    domains[index] = match (other.text, comparison) {
        (Some(text), Comparison::Equal) => domain.equal(text, true),
        (Some(text), Comparison::NotEqual) => domain.equal(text, false),
        _ => domain,
    };
    !domains[index].is_empty()
}

impl Side<'_> {
    /// The remainder by a number of the same type. It has the sign of the left side.
    const fn remainder(self, by: i128) -> Option<Self> {
        match self.kind {
            TypeKind::Integer { low, high }
                if self.by == 0 && 0 < by && low <= by && by <= high =>
            {
                let Range { low, high } = self.range;
                let range = Range::new(
                    if low < 0 { 1 - by } else { 0 },
                    if high > 0 { by - 1 } else { 0 },
                );
                Some(Self { range, by, ..self })
            }
            _ => None,
        }
    }
}

/// Moves both ends of a range to numbers whose remainder compares so. `i128::MAX` stands for larger numbers as well.
const fn remaining(range: Range, by: i128, (comparison, other): (Comparison, Range)) -> Range {
    let Range { mut low, mut high } = range;
    let mut steps = STEPS;
    while low <= high && low != i128::MAX && steps > 0 {
        if !Range::only(low % by).compared(comparison, other).is_empty() {
            break;
        }
        low += 1;
        steps -= 1;
    }
    steps = STEPS;
    while low <= high && high != i128::MAX && steps > 0 {
        if !Range::only(high % by)
            .compared(comparison, other)
            .is_empty()
        {
            break;
        }
        high -= 1;
        steps -= 1;
    }
    Range::new(low, high)
}
