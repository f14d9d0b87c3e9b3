//! Strings, numbers, booleans and null of a text.

use std::cmp::Ordering;

use serde_json::{Number as JsonNumber, Value};

use super::{Admitted, Stop, Validator, of_type, within};
use crate::lexer::{Number, finite};
use crate::{Decimal, Limit, NumberRule, Rule, TextRule, Types};

/// Integers up to here are floats without rounding.
const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53

/// Floats of at most this many characters below `2^53` read back as they were written.
const SHORT: usize = 15;

impl Validator<'_, '_> {
    pub(super) fn string(&self, rule: &Rule, at: usize) -> Admitted {
        of_type(rule, Types::STRING)?;
        let string = self.lexer.string(at)?;
        if rule.values.is_none() && rule.text.is_none() {
            return Ok(string.end);
        }
        let text = string.text()?;
        let is_listed = |values: &Vec<Value>| values.iter().any(|value| *value == *text);
        if !rule.values.as_ref().is_none_or(is_listed) {
            return Err(Stop::Refused);
        }
        if let Some(rule) = &rule.text {
            admits_text(rule, &text)?;
        }
        Ok(string.end)
    }

    pub(super) fn boolean(&self, rule: &Rule, at: usize, value: bool) -> Admitted {
        of_type(rule, Types::BOOLEAN)?;
        let end = self
            .lexer
            .literal(at, if value { "true" } else { "false" })?;
        is_among(rule, &Value::Bool(value))?;
        Ok(end)
    }

    pub(super) fn null(&self, rule: &Rule, at: usize) -> Admitted {
        of_type(rule, Types::NULL)?;
        let end = self.lexer.literal(at, "null")?;
        is_among(rule, &Value::Null)?;
        Ok(end)
    }

    pub(super) fn number(&self, rule: &Rule, at: usize) -> Admitted {
        let (number, end) = self.lexer.number(at)?;
        match number {
            Number::Integer(value) => {
                of_type(rule, Types::INTEGER | Types::NUMBER)?;
                if let Some(values) = &rule.values {
                    is_integer_among(values, value)?;
                }
                if let Some(rule) = &rule.number {
                    integer_within(rule, value)?;
                }
            }
            Number::Float {
                literal,
                is_fraction,
            } => {
                if !rule.types.has(Types::NUMBER) {
                    // An integer is to be written as one first.
                    let maybe_integer = rule.types.has(Types::INTEGER) && !is_fraction;
                    let stop = [Stop::Refused, Stop::Undecided];
                    return Err(stop[usize::from(maybe_integer)]);
                }
                if rule.values.is_some() {
                    return Err(Stop::Undecided);
                }
                if let Some(rule) = &rule.number {
                    float_within(rule, literal, is_fraction)?;
                }
            }
        }
        Ok(end)
    }
}

fn admits_text(rule: &TextRule, text: &str) -> Result<(), Stop> {
    let has_length = || within(text.chars().count(), rule.min, rule.max);
    let fits = (rule.min.is_none() && rule.max.is_none() || has_length())
        && rule
            .pattern
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(text));
    if fits { Ok(()) } else { Err(Stop::Refused) }
}

fn is_among(rule: &Rule, value: &Value) -> Result<(), Stop> {
    let is_listed = |values: &Vec<Value>| values.contains(value);
    if rule.values.as_ref().is_none_or(is_listed) {
        return Ok(());
    }
    Err(Stop::Refused)
}

/// `1` and `1.0` are the same number.
fn is_integer_among(values: &[Value], value: i128) -> Result<(), Stop> {
    let mut floats = false;
    for listed in values.iter().filter_map(Value::as_number) {
        match integer(listed) {
            Some(listed) if listed == value => return Ok(()),
            Some(_) => {}
            None => floats = true,
        }
    }
    Err(if floats {
        Stop::Undecided
    } else {
        Stop::Refused
    })
}

fn integer(number: &JsonNumber) -> Option<i128> {
    let negative = number.as_i64().map(i128::from);
    negative.or_else(|| number.as_u64().map(i128::from))
}

/// Judges a number by the limits of a rule, given how it compares with one and whether it is a multiple of one.
#[inline]
fn within_limits(
    rule: &NumberRule,
    compare: impl Fn(&Limit) -> Ordering,
    is_multiple: impl Fn(&Limit) -> bool,
) -> Result<(), Stop> {
    let holds = |limit: &Option<Limit>, test: fn(Ordering) -> bool| {
        limit.as_ref().is_none_or(|limit| test(compare(limit)))
    };
    let fits = holds(&rule.minimum, Ordering::is_ge)
        && holds(&rule.maximum, Ordering::is_le)
        && holds(&rule.above, Ordering::is_gt)
        && holds(&rule.below, Ordering::is_lt)
        && rule.multiple_of.as_ref().is_none_or(is_multiple);
    if fits { Ok(()) } else { Err(Stop::Refused) }
}

fn integer_within(rule: &NumberRule, value: i128) -> Result<(), Stop> {
    let exact = || decimal(value);
    within_limits(
        rule,
        |limit| match integer(&limit.written) {
            Some(limit) => value.cmp(&limit),
            None => exact().cmp(&limit.exact),
        },
        |step| exact().is_multiple_of(&step.exact),
    )
}

#[cold]
fn decimal(value: i128) -> Decimal {
    let number = i64::try_from(value).map(JsonNumber::from);
    let number = number.or_else(|_| u64::try_from(value).map(JsonNumber::from));
    Decimal::of(&number.unwrap_or_else(|_| JsonNumber::from(0)))
}

fn float_within(rule: &NumberRule, literal: &str, is_fraction: bool) -> Result<(), Stop> {
    let float = finite(literal).ok_or(Stop::Undecided)?;
    // Of a longer one that may be an integer the digits count.
    if !is_fraction && (literal.len() > SHORT || float.abs() >= EXACT) {
        return Err(Stop::Undecided);
    }
    let exact = || Decimal::of_float(float);
    within_limits(
        rule,
        |limit| {
            let of_limit = limit.written.as_f64();
            let same_order =
                limit.written.is_f64() || of_limit.is_some_and(|limit| limit.abs() <= EXACT);
            // The shortest texts of two floats are in the order of the floats.
            match of_limit.filter(|_| same_order) {
                Some(limit) => float.partial_cmp(&limit).unwrap_or(Ordering::Equal),
                None => exact().cmp(&limit.exact),
            }
        },
        |step| exact().is_multiple_of(&step.exact),
    )
}
