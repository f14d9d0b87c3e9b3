//! Lowers one test of one location.

use std::cmp::Ordering;

use serde_json::Value;

use super::constant::Constant;
use super::finite;
use super::fragment::Fragment;
use super::number;
use super::text::{self, Affix, Count};
use super::value_path::{ValuePath, counted};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

/// What a test leaves of a place, if there are keywords for it.
pub(super) fn lower(test: &Expression, expected: bool, place: ValuePath<'_>) -> Option<Fragment> {
    match test {
        test if place.is(test) => flag(expected, place),
        Expression::Compare(comparison, left, right) => {
            let comparison = if expected {
                *comparison
            } else {
                comparison.negated()
            };
            compare(comparison, left, right, place)
        }
        Expression::Among(of, list) if place.is(of) => among(list, expected, place),
        Expression::IsAscii(of) if place.is(of) => match place.kind {
            TypeKind::Text | TypeKind::Character => Some(text::ascii(expected)),
            _ => None,
        },
        Expression::StartsWith(of, with) => affix(Affix::Start, of, with, expected, place),
        Expression::EndsWith(of, with) => affix(Affix::End, of, with, expected, place),
        Expression::Contains(of, item) => match place.kind {
            TypeKind::List(kind) if place.is(of) => contains(item, *kind, expected, place),
            _ if place.is(item) => listed(&Constant::list(of)?, expected, place),
            _ => affix(Affix::Anywhere, of, item, expected, place),
        },
        Expression::Matches(of, pattern) if place.is(of) && place.kind == TypeKind::Text => {
            match Constant::of(pattern, TypeKind::Text)? {
                Constant::Text(pattern) => text::matched(&pattern, expected),
                _ => None,
            }
        }
        Expression::IsSome(of) if place.is(of) => match place.kind {
            TypeKind::Optional(_) if expected => Some(Fragment {
                null: false,
                ..Fragment::always()
            }),
            TypeKind::Optional(_) => Some(Fragment {
                null: true,
                ..Fragment::never()
            }),
            _ => None,
        },
        Expression::IsFinite(of) if place.is(of) => match place.kind {
            TypeKind::Float { .. } => Some(constant(expected)),
            _ => None,
        },
        Expression::Native {
            parameter, holds, ..
        } if place.is(&Expression::Parameter(parameter)) => native(*holds, expected, place),
        _ => match Constant::of(test, TypeKind::Bool)? {
            Constant::Bool(value) => Some(constant(value == expected)),
            _ => None,
        },
    }
}

fn constant(holds: bool) -> Fragment {
    if holds {
        Fragment::always()
    } else {
        Fragment::never()
    }
}

fn flag(expected: bool, place: ValuePath<'_>) -> Option<Fragment> {
    (place.kind == TypeKind::Bool).then(|| Fragment::among(vec![Value::Bool(expected)]))
}

fn compare(
    comparison: Comparison,
    left: &Expression,
    right: &Expression,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    if place.is(left) && place.is(right) {
        return itself(comparison, place);
    }
    side(comparison, left, right, place)
        .or_else(|| side(comparison.mirrored(), right, left, place))
        .or_else(|| constants(comparison, left, right))
}

/// The place, or what is computed of it, on the left; a constant on the right.
fn side(
    comparison: Comparison,
    of: &Expression,
    with: &Expression,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    match of {
        of if place.is(of) => match (place.kind, place.constant(with)?) {
            (TypeKind::Integer { low, high }, Constant::Integer(value)) => {
                number::integers(comparison, value, (low, high))
            }
            (TypeKind::Float { single }, Constant::Float(value)) => {
                number::floats(comparison, value, single)
            }
            (TypeKind::Bool | TypeKind::Text | TypeKind::Character, constant) => {
                let expected = match comparison {
                    Comparison::Equal => true,
                    Comparison::NotEqual => false,
                    _ => return None,
                };
                listed(&[constant], expected, place)
            }
            _ => None,
        },
        Expression::Length(of) if place.is(of) => match place.kind {
            TypeKind::Text => Count::Bytes.compared(comparison, counted(with)?),
            TypeKind::List(_) => Count::Items.compared(comparison, counted(with)?),
            _ => None,
        },
        Expression::Absolute(of) if place.is(of) => match (place.kind, place.constant(with)?) {
            (TypeKind::Integer { low, high }, Constant::Integer(value)) => {
                // Without overflow checks the least integer stays as it is, below every limit.
                let is_above = matches!(comparison, Comparison::More | Comparison::AtLeast);
                let ends = is_above.then_some((low, high))?;
                let outside = number::magnitude(comparison, value.checked_neg()?, |by, value| {
                    number::integers(by, value, ends)
                });
                outside.map(Fragment::partial)
            }
            (TypeKind::Float { single }, Constant::Float(value)) => {
                number::magnitude(comparison, -value, |by, value| {
                    number::floats(by, value, single)
                })
            }
            _ => None,
        },
        Expression::UnsignedAbsolute(of) if place.is(of) => {
            match (place.kind, place.constant(with)?) {
                (TypeKind::Integer { low, high }, Constant::Integer(value)) => {
                    number::magnitude(comparison, value.checked_neg()?, |by, value| {
                        number::integers(by, value, (low, high))
                    })
                }
                _ => None,
            }
        }
        Expression::Characters(of) if place.is(of) && place.kind == TypeKind::Text => {
            Count::Characters.compared(comparison, counted(with)?)
        }
        Expression::Arithmetic(Operation::Remainder, of, step) if place.is(of) => {
            let TypeKind::Integer { low, high } = place.kind else {
                return None;
            };
            match (place.constant(step)?, place.constant(with)?) {
                (Constant::Integer(step), Constant::Integer(rest)) => {
                    number::remainder(comparison, step, rest, (low, high))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// A value compared with itself: of what JSON can carry, no value differs from itself.
fn itself(comparison: Comparison, place: ValuePath<'_>) -> Option<Fragment> {
    match place.kind {
        TypeKind::Opaque | TypeKind::List(_) | TypeKind::Optional(_) => None,
        _ => Some(constant(ordered(comparison, Ordering::Equal))),
    }
}

/// Two constants, whose type nothing here tells: there is no arithmetic, and floats are compared in both widths.
fn constants(comparison: Comparison, left: &Expression, right: &Expression) -> Option<Fragment> {
    let unknown = |expression| Constant::of(expression, TypeKind::Opaque);
    let holds = match (unknown(left)?, unknown(right)?) {
        (Constant::Integer(left), Constant::Integer(right)) => {
            ordered(comparison, left.cmp(&right))
        }
        (Constant::Text(left), Constant::Text(right)) => ordered(comparison, left.cmp(&right)),
        (Constant::Float(left), Constant::Float(right)) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is what `f32` makes of it"
            )]
            let single = (left as f32).partial_cmp(&(right as f32))?;
            let double = left.partial_cmp(&right)?;
            (single == double).then(|| ordered(comparison, double))?
        }
        _ => return None,
    };
    Some(constant(holds))
}

fn ordered(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::More => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
    }
}

fn among(list: &[Expression], expected: bool, place: ValuePath<'_>) -> Option<Fragment> {
    let constants: Option<Vec<_>> = list.iter().map(|one| place.constant(one)).collect();
    listed(&constants?, expected, place)
}

fn listed(constants: &[Constant], expected: bool, place: ValuePath<'_>) -> Option<Fragment> {
    let fits = |constant: &Constant| {
        matches!(
            (place.kind, constant),
            (TypeKind::Bool, Constant::Bool(_))
                | (TypeKind::Integer { .. }, Constant::Integer(_))
                | (TypeKind::Text | TypeKind::Character, Constant::Text(_))
        )
    };
    if let TypeKind::Float { single } = place.kind {
        return number::among(constants, expected, single);
    }
    let values: Option<Vec<Value>> = constants
        .iter()
        .map(|constant| fits(constant).then(|| constant.json()).flatten())
        .collect();
    Some(text::listed(values?, expected))
}

fn affix(
    affix: Affix,
    of: &Expression,
    with: &Expression,
    expected: bool,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    if !place.is(of) || place.kind != TypeKind::Text {
        return None;
    }
    match place.constant(with)? {
        Constant::Text(with) => text::holding(affix, &with, expected),
        _ => None,
    }
}

/// A list that holds this item, or does not.
fn contains(
    item: &Expression,
    kind: TypeKind,
    expected: bool,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    // No closure names the item here, and none can: a variable is a Rust name.
    let item_place = place.item("", kind);
    let comparison = if expected {
        Comparison::Equal
    } else {
        Comparison::NotEqual
    };
    let body = side(comparison, &Expression::Variable(""), item, item_place)?;
    Some(super::clause::each(!expected, body, kind))
}

/// A test that is asked about every value of the type.
fn native(
    holds: fn(&str) -> Option<bool>,
    expected: bool,
    place: ValuePath<'_>,
) -> Option<Fragment> {
    let all = place.values()?;
    let passing = finite::passing(&all, expected, holds)?;
    let null = if place.nullable || place.absent {
        finite::answer(&Value::Null, holds).is_none_or(|answer| answer == expected)
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
