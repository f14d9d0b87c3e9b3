//! One test of one place.

use std::cmp::Ordering;

use serde_json::Value;

use super::constant::Constant;
use super::finite;
use super::fragment::Fragment;
use super::number;
use super::place::{Place, counted};
use super::text::{self, Affix, Count};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::tool::form::Form;

/// What a test leaves of a place, if there are keywords for it.
pub(super) fn lower(test: &Expression, expected: bool, place: Place<'_>) -> Option<Fragment> {
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
        Expression::StartsWith(of, with) => affix(Affix::Start, of, with, expected, place),
        Expression::EndsWith(of, with) => affix(Affix::End, of, with, expected, place),
        Expression::Contains(of, item) => match place.form {
            Form::List(form) if place.is(of) => contains(item, *form, expected, place),
            _ if place.is(item) => listed(&Constant::list(of)?, expected, place),
            _ => affix(Affix::Anywhere, of, item, expected, place),
        },
        Expression::Matches(of, pattern) if place.is(of) && place.form == Form::Text => {
            match Constant::of(pattern, Form::Text)? {
                Constant::Text(pattern) => text::matched(&pattern, expected),
                _ => None,
            }
        }
        Expression::IsSome(of) if place.is(of) => match place.form {
            Form::Optional(_) if expected => Some(Fragment {
                null: false,
                ..Fragment::always()
            }),
            Form::Optional(_) => Some(Fragment {
                null: true,
                ..Fragment::never()
            }),
            _ => None,
        },
        Expression::IsFinite(of) if place.is(of) => match place.form {
            Form::Float { .. } => Some(constant(expected)),
            _ => None,
        },
        Expression::Native {
            parameter, holds, ..
        } if place.is(&Expression::Parameter(parameter)) => native(*holds, expected, place),
        _ => match Constant::of(test, Form::Bool)? {
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

fn flag(expected: bool, place: Place<'_>) -> Option<Fragment> {
    (place.form == Form::Bool).then(|| Fragment::among(vec![Value::Bool(expected)]))
}

fn compare(
    comparison: Comparison,
    left: &Expression,
    right: &Expression,
    place: Place<'_>,
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
    place: Place<'_>,
) -> Option<Fragment> {
    match of {
        of if place.is(of) => match (place.form, place.constant(with)?) {
            (Form::Integer { low, high }, Constant::Integer(value)) => {
                number::integers(comparison, value, (low, high))
            }
            (Form::Float { single }, Constant::Float(value)) => {
                number::floats(comparison, value, single)
            }
            (Form::Bool | Form::Text | Form::Character, constant) => {
                let expected = match comparison {
                    Comparison::Equal => true,
                    Comparison::NotEqual => false,
                    _ => return None,
                };
                listed(&[constant], expected, place)
            }
            _ => None,
        },
        Expression::Length(of) if place.is(of) => match place.form {
            Form::Text => Count::Bytes.compared(comparison, counted(with)?),
            Form::List(_) => Count::Items.compared(comparison, counted(with)?),
            _ => None,
        },
        Expression::Characters(of) if place.is(of) && place.form == Form::Text => {
            Count::Characters.compared(comparison, counted(with)?)
        }
        Expression::Arithmetic(Operation::Remainder, of, step) if place.is(of) => {
            let Form::Integer { low, high } = place.form else {
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
fn itself(comparison: Comparison, place: Place<'_>) -> Option<Fragment> {
    match place.form {
        Form::Opaque | Form::List(_) | Form::Optional(_) => None,
        _ => Some(constant(ordered(comparison, Ordering::Equal))),
    }
}

/// Two constants, whose type nothing here tells: there is no arithmetic, and floats are compared in both widths.
fn constants(comparison: Comparison, left: &Expression, right: &Expression) -> Option<Fragment> {
    let unknown = |expression| Constant::of(expression, Form::Opaque);
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

fn among(list: &[Expression], expected: bool, place: Place<'_>) -> Option<Fragment> {
    let constants: Option<Vec<_>> = list.iter().map(|one| place.constant(one)).collect();
    listed(&constants?, expected, place)
}

fn listed(constants: &[Constant], expected: bool, place: Place<'_>) -> Option<Fragment> {
    let fits = |constant: &Constant| {
        matches!(
            (place.form, constant),
            (Form::Bool, Constant::Bool(_))
                | (Form::Integer { .. }, Constant::Integer(_))
                | (Form::Text | Form::Character, Constant::Text(_))
        )
    };
    if let Form::Float { single } = place.form {
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
    place: Place<'_>,
) -> Option<Fragment> {
    if !place.is(of) || place.form != Form::Text {
        return None;
    }
    match place.constant(with)? {
        Constant::Text(with) => text::holding(affix, &with, expected),
        _ => None,
    }
}

/// A list that holds this item, or does not.
fn contains(item: &Expression, form: Form, expected: bool, place: Place<'_>) -> Option<Fragment> {
    // No closure names the item here, and none can: a variable is a Rust name.
    let item_place = place.item("", form);
    let comparison = if expected {
        Comparison::Equal
    } else {
        Comparison::NotEqual
    };
    let body = side(comparison, &Expression::Variable(""), item, item_place)?;
    Some(super::clause::each(!expected, body, form))
}

/// A test that is asked about every value of the type.
fn native(holds: fn(&str) -> Option<bool>, expected: bool, place: Place<'_>) -> Option<Fragment> {
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
