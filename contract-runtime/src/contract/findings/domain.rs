//! The values that a parameter may have, and how they are split in two; ranges of numbers and comparisons of texts as `const fn`s.

use super::evaluation::{Evaluation, Seek};
use crate::contract::expression::Expression;
use crate::contract::type_kind::TypeKind;

/// The value of a part of an expression, by its text: within one contract a text means one thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) text: &'a str,
    pub(crate) value: Value<'a>,
}

/// A value, as far as conditions compare it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Unknown,
    /// `None`
    Nothing,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(&'a str),
    /// So many items.
    List(usize),
    /// A set of values of a finite type, one bit for each value: the values for which a test holds, and those for which it fails.
    Values {
        holding: u64,
        failing: u64,
    },
}

/// Some values of a parameter, of what is inside an optional, or of one item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Domain<'a> {
    /// The parameter.
    pub(super) name: &'a str,
    pub(super) kind: TypeKind,
    /// By [`Aspect`].
    ranges: [Range; 3],
    pub(super) nan: bool,
    /// What it is, the longest text that it begins with, and the longest that it ends with.
    pub(super) choices: [Choice<'a>; 3],
    /// The values of a finite type, by their bits; all bits of any other type.
    pub(super) values: u64,
}

/// A number that a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aspect {
    /// An integer, a float by its key; of a bool 0 and 1, as of an optional without and with a value.
    Value,
    /// Bytes or items.
    Length,
    Characters,
}

/// Which of the texts that conditions name it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice<'a> {
    /// Any but the first so many.
    Open(usize),
    Is(&'a str),
    /// None of them.
    Other,
}

impl<'a> Domain<'a> {
    /// Every value of a type. A length is at most `isize::MAX`, and there are platforms where that is 63 bits.
    pub(super) const fn of(name: &'a str, kind: TypeKind) -> Self {
        const NONE: Range = Range::only(0);
        const COUNTS: Range = Range::new(0, i64::MAX as i128);
        const OPEN: Choice<'_> = Choice::Open(0);
        let value = match kind {
            TypeKind::Bool | TypeKind::Optional(_) => Range::new(0, 1),
            TypeKind::Integer { low, high } => Range::new(low, high),
            TypeKind::Float { .. } => FLOATS,
            _ => NONE,
        };
        let (ranges, choices) = match kind {
            TypeKind::Text => ([value, COUNTS, COUNTS], [OPEN; 3]),
            TypeKind::List(_) => ([value, COUNTS, NONE], [Choice::Other; 3]),
            TypeKind::Character => ([value; 3], [OPEN, Choice::Other, Choice::Other]),
            _ => ([value, NONE, NONE], [Choice::Other; 3]),
        };
        Self {
            name,
            kind,
            ranges,
            nan: matches!(kind, TypeKind::Float { .. }),
            choices,
            values: u64::MAX,
        }
    }

    pub(super) const fn aspect(&self, aspect: Aspect) -> Range {
        self.ranges[aspect as usize]
    }

    /// Narrowed in one aspect. Each of the two lengths of a text narrows the other one: a character has one to four bytes.
    const fn narrowed(mut self, aspect: usize, range: Range) -> Self {
        self.ranges[aspect] = self.ranges[aspect].meet(range);
        if matches!(self.kind, TypeKind::Text) {
            let [_, bytes, count] = self.ranges;
            self.ranges[1] = bytes.meet(Range::new(count.low, count.high.saturating_mul(4)));
            self.ranges[2] = count.meet(Range::new((bytes.low + 3) / 4, bytes.high));
        }
        self
    }

    pub(super) const fn is_empty(&self) -> bool {
        let [value, bytes, count] = self.ranges;
        let has_no_value = value.is_empty() && !self.nan;
        has_no_value || bytes.is_empty() || count.is_empty() || self.values == 0
    }

    /// The texts that may contain this one, by their lengths.
    pub(super) const fn containing(self, text: &str) -> Self {
        let bytes = Range::new(text.len() as i128, i128::MAX);
        let count = Range::new(characters(text), i128::MAX);
        self.narrowed(1, bytes).narrowed(2, count)
    }

    const fn is(mut self, text: &'a str) -> Self {
        self.choices = [Choice::Is(text); 3];
        if !matches!(self.kind, TypeKind::Text) {
            return self;
        }
        let bytes = Range::only(text.len() as i128);
        let count = Range::only(characters(text));
        self.narrowed(1, bytes).narrowed(2, count)
    }

    /// Splits the domain where conditions treat its values differently, the first part as small as possible.
    pub(super) const fn split(
        &self,
        evaluation: &mut Evaluation<'a>,
        conditions: &[&'static Expression],
    ) -> Option<(Self, Self)> {
        let (mut first, mut rest) = (*self, *self);
        if self.nan && !self.ranges[0].is_empty() {
            first.ranges[0] = Range::EMPTY;
            rest.nan = false;
            return Some((first, rest));
        }
        if self.values != u64::MAX && !self.values.is_power_of_two() {
            first.values = 1 << self.values.trailing_zeros();
            rest.values &= !first.values;
            return Some((first, rest));
        }
        let mut index = 0;
        while index < 3 {
            let Range { low, high } = self.ranges[index];
            if low < high {
                let seek = Seek::end(self.ranges[index], self.kind);
                let end = evaluation.seek(conditions, seek).end;
                if end < high {
                    first = self.narrowed(index, Range::new(low, end));
                    rest = self.narrowed(index, Range::new(end + 1, high));
                    return Some((first, rest));
                }
            }
            index += 1;
        }
        index = 0;
        while index < 3 {
            if let Choice::Open(count) = self.choices[index] {
                rest.choices[index] = Choice::Open(count + 1);
                match evaluation.seek(conditions, Seek::text(count)).text {
                    Some(text) if index == 0 => first = self.is(text),
                    Some(text) => {
                        first.choices[index] = Choice::Is(text);
                        first = first.containing(text);
                    }
                    None => {
                        first.choices[index] = Choice::Other;
                        rest.values = 0;
                    }
                }
                return Some((first, rest));
            }
            index += 1;
        }
        None
    }

    /// The values that are left where a default or an example is this one.
    pub(super) const fn given(mut self, value: Value<'a>) -> Self {
        let (aspect, range) = match (self.kind, value) {
            (TypeKind::Optional(_), value) => {
                let is_some = !matches!(value, Value::Nothing);
                (Aspect::Value, Range::only(is_some as i128))
            }
            (TypeKind::Bool, Value::Bool(value)) => (Aspect::Value, Range::only(value as i128)),
            (TypeKind::Integer { low, high }, Value::Integer(value))
                if low <= value && value <= high =>
            {
                (Aspect::Value, Range::only(value))
            }
            (TypeKind::Float { single }, Value::Float(value)) => {
                self.nan = false;
                let exact = Range::only(key(value));
                (Aspect::Value, if single { rounded(value) } else { exact })
            }
            (TypeKind::List(_), Value::List(items)) => (Aspect::Length, Range::only(items as i128)),
            (TypeKind::Text | TypeKind::Character, Value::Text(text)) => return self.is(text),
            _ => return self,
        };
        self.narrowed(aspect as usize, range)
    }
}

impl<'a> Value<'a> {
    /// The value of a literal as JSON text, where it can be read without a parser: no float, and no escaped text.
    pub(crate) const fn of_json(text: &'a str) -> Self {
        match text.as_bytes() {
            b"true" => Self::Bool(true),
            b"false" => Self::Bool(false),
            b"null" => Self::Nothing,
            [b'"', inner @ .., b'"'] => match str::from_utf8(inner) {
                Ok(text) if !contains(text, "\\") => Self::Text(text),
                _ => Self::Unknown,
            },
            _ => match i128::from_str_radix(text, 10) {
                Ok(value) => Self::Integer(value),
                Err(_) => Self::Unknown,
            },
        }
    }
}

/// The integers from `low` to `high`; none where the ends have crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Range {
    pub(super) const EMPTY: Self = Self::new(1, 0);

    pub(super) const fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    pub(super) const fn only(value: i128) -> Self {
        Self::new(value, value)
    }

    pub(super) const fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub(super) const fn single(self) -> Option<i128> {
        if self.low == self.high {
            Some(self.low)
        } else {
            None
        }
    }

    pub(super) const fn holds(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    pub(super) const fn meet(self, other: Self) -> Self {
        Self::new(
            if self.low > other.low {
                self.low
            } else {
                other.low
            },
            if self.high < other.high {
                self.high
            } else {
                other.high
            },
        )
    }

    /// Whether each number here is less than each of `other` (`Some(true)`), or none is less than any.
    ///
    /// `i128::MAX` stands for every larger `u128` as well, so two numbers there are not known to be equal.
    pub(super) const fn less(self, other: Self) -> Option<bool> {
        if self.high < other.low {
            Some(true)
        } else if self.low >= other.high && other.high != i128::MAX {
            Some(false)
        } else {
            None
        }
    }

    /// Whether each number here equals each of `other` (`Some(true)`), or none equals any.
    pub(super) const fn equal(self, other: Self) -> Option<bool> {
        if self.high < other.low || other.high < self.low {
            return Some(false);
        }
        match (self.single(), other.single()) {
            (Some(value), Some(_)) if value != i128::MAX => Some(true),
            _ => None,
        }
    }
}

/// Floats in their order as integers, one step apart where no float lies between; both zeros are 0, and there is no NaN.
///
/// The order of the bits is that of IEEE 754-2019, section 5.10, for values of one sign.
pub(super) const fn key(float: f64) -> i128 {
    let bits = float.to_bits();
    let magnitude = (bits & (u64::MAX >> 1)) as i128;
    if float.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// Every float but NaN.
pub(super) const FLOATS: Range = Range::new(key(f64::NEG_INFINITY), key(f64::INFINITY));

/// Every float that a number in JSON can be.
pub(super) const FINITE: Range = Range::new(key(f64::MIN), key(f64::MAX));

/// The `f32` that a literal means which was read as an `f64`: one of these.
///
/// Rounding twice differs from rounding once only half-way between two of them, and where they get coarser near zero.
pub(super) const fn rounded(float: f64) -> Range {
    const LOW_BITS: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    #[allow(clippy::cast_possible_truncation, reason = "it is what is asked for")]
    let near = float as f32;
    let back = near as f64;
    if key(back) == key(float) {
        return Range::only(key(back));
    }
    let small = f32::MIN_POSITIVE as f64;
    if -small <= float && float <= small {
        return Range::new(key(-small), key(small));
    }
    if !near.is_finite() {
        return FLOATS;
    }
    if float.to_bits() & LOW_BITS == HALF {
        return Range::new(key(float) - 1 - HALF as i128, key(float) + 1 + HALF as i128);
    }
    Range::only(key(back))
}

pub(crate) const fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && begins(one.as_bytes(), other.as_bytes())
}

pub(super) const fn starts_with(text: &str, part: &str) -> bool {
    begins(text.as_bytes(), part.as_bytes())
}

pub(super) const fn ends_with(text: &str, part: &str) -> bool {
    match text.len().checked_sub(part.len()) {
        Some(start) => begins(text.as_bytes().split_at(start).1, part.as_bytes()),
        None => false,
    }
}

pub(super) const fn contains(text: &str, part: &str) -> bool {
    let mut rest = text.as_bytes();
    loop {
        if begins(rest, part.as_bytes()) {
            return true;
        }
        match rest.split_first() {
            Some((_, others)) => rest = others,
            None => return false,
        }
    }
}

const fn begins(mut text: &[u8], mut part: &[u8]) -> bool {
    loop {
        match (text.split_first(), part.split_first()) {
            (_, None) => return true,
            (Some((one, texts)), Some((other, parts))) if *one == *other => {
                text = texts;
                part = parts;
            }
            _ => return false,
        }
    }
}

/// Counts the code points: the bytes that do not continue one.
pub(super) const fn characters(text: &str) -> i128 {
    let mut rest = text.as_bytes();
    let mut count = 0;
    while let Some((byte, others)) = rest.split_first() {
        if *byte & 0b1100_0000 != 0b1000_0000 {
            count += 1;
        }
        rest = others;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_the_floats(bits in any::<u64>(), other in any::<u64>()) {
            let (a, b) = (f64::from_bits(bits), f64::from_bits(other));
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(a < b, key(a) < key(b));
            prop_assert_eq!(a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_eq), key(a) == key(b));
        }

        #[test]
        fn a_literal_of_f32_is_among_what_it_is_rounded_to(bits in any::<u32>(), digits in 1..30_usize) {
            let float = f32::from_bits(bits);
            prop_assume!(float.is_finite());
            let text = format!("{float:.digits$e}");
            let (single, double): (f32, f64) = (text.parse().unwrap(), text.parse().unwrap());
            prop_assume!(single.is_finite());
            prop_assert!(rounded(double).holds(Range::only(key(f64::from(single)))), "{text}");
        }
    }

    #[test]
    fn the_next_float_is_one_step_away() {
        for float in [-1.5_f64, -0.0, 0.0, 1.0, f64::MAX, f64::MIN] {
            assert_eq!(key(float.next_up()), key(float) + 1, "{float}");
        }
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn half_way_between_two_floats_both_are_possible() {
        let half = 1.0 + f64::from(f32::EPSILON) / 2.0;
        let range = rounded(half);
        assert!(range.low <= key(1.0) && range.high >= key(1.0 + f64::from(f32::EPSILON)));
    }

    proptest! {
        #[test]
        fn the_tests_answer_as_those_of_the_standard_library(text in "[abä]{0,5}", part in "[abä]{0,3}") {
            prop_assert_eq!(same(&text, &part), text == part);
            prop_assert_eq!(starts_with(&text, &part), text.starts_with(&part));
            prop_assert_eq!(ends_with(&text, &part), text.ends_with(&part));
            prop_assert_eq!(contains(&text, &part), text.contains(&part));
            prop_assert_eq!(characters(&text), text.chars().count() as i128);
        }
    }
}
