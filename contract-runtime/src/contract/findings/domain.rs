//! The values that a parameter may have; ranges of numbers and comparisons of texts as `const fn`s.

use crate::contract::expression::{Comparison, Expression};
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

/// Some values of a parameter, or of one item of a list: all that conditions admit, and perhaps others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain<'a> {
    /// The parameter; an item has no name.
    pub(crate) name: &'a str,
    /// The type, or for an optional the type of what it holds.
    pub(crate) kind: TypeKind,
    pub(crate) is_optional: bool,
    /// Whether it may be `None`. Every other field is about what an optional holds.
    pub(crate) none: bool,
    pub(crate) nan: bool,
    /// By [`Aspect`].
    pub(crate) ranges: [Range; 3],
    /// The only text that it may be, if it is only one.
    pub(crate) text: Option<&'a str>,
    /// What a text begins and ends with.
    affixes: [&'a str; 2],
    /// The values of a finite type, by their bits; all bits of any other type.
    pub(crate) values: u64,
}

/// A number that a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aspect {
    /// An integer, a float or a text by its key, and 0 or 1 for a bool.
    Value,
    /// Bytes or items.
    Length,
    Characters,
}

impl<'a> Domain<'a> {
    pub(crate) const EMPTY: Self = Self {
        values: 0,
        ..Self::of("", TypeKind::Opaque)
    };

    /// Every value of a type. A length is at most `isize::MAX`, and there are platforms where that is 63 bits.
    pub(crate) const fn of(name: &'a str, kind: TypeKind) -> Self {
        const NONE: Range = Range::only(0);
        const COUNTS: Range = Range::new(0, i64::MAX as i128);
        let (is_optional, kind) = match kind {
            TypeKind::Optional(inner) => (true, *inner),
            kind => (false, kind),
        };
        let ranges = match kind {
            TypeKind::Bool => [Range::new(0, 1), NONE, NONE],
            TypeKind::Integer { low, high } => [Range::new(low, high), NONE, NONE],
            TypeKind::Float { .. } => [FLOATS, NONE, NONE],
            TypeKind::Text => [TEXTS, COUNTS, COUNTS],
            TypeKind::Character => [TEXTS, NONE, NONE],
            TypeKind::List(_) => [NONE, COUNTS, NONE],
            _ => [NONE; 3],
        };
        Self {
            name,
            kind,
            is_optional,
            none: is_optional,
            nan: matches!(kind, TypeKind::Float { .. }),
            ranges,
            text: None,
            affixes: [""; 2],
            values: u64::MAX,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        let [value, length, characters] = self.ranges;
        let has_no_value = value.is_empty() && !self.nan;
        let has_none = has_no_value || length.is_empty() || characters.is_empty();
        self.values == 0 || (has_none && !self.none)
    }

    /// Without any value but `None`.
    pub(crate) const fn without_value(self) -> Self {
        Self {
            ranges: [Range::EMPTY; 3],
            nan: false,
            ..self
        }
    }

    /// Whether the ranges and the text are the same, by which all else that narrowing depends on is known.
    pub(crate) const fn equals(&self, other: &Self) -> bool {
        let [one, two] = [self.ranges, other.ranges];
        let lengths = one[1].equals(two[1]) && one[2].equals(two[2]);
        lengths && one[0].equals(two[0]) && self.text.is_some() == other.text.is_some()
    }

    /// The least domain with the values of both.
    pub(crate) const fn or(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let [one, two] = [self.ranges, other.ranges];
        let ([start, end], [begin, close]) = (self.affixes, other.affixes);
        Self {
            none: self.none | other.none,
            nan: self.nan | other.nan,
            ranges: [
                one[0].hull(two[0]),
                one[1].hull(two[1]),
                one[2].hull(two[2]),
            ],
            text: match (self.text, other.text) {
                (Some(text), Some(another)) if same(text, another) => Some(text),
                _ => None,
            },
            affixes: [
                if same(start, begin) { start } else { "" },
                if same(end, close) { end } else { "" },
            ],
            values: self.values | other.values,
            ..self
        }
    }

    /// Narrowed in one aspect. Each of the two lengths of a text narrows the other one: a character has one to four bytes.
    pub(crate) const fn narrowed(mut self, aspect: Aspect, range: Range) -> Self {
        self.ranges[aspect as usize] = self.ranges[aspect as usize].meet(range);
        if matches!(self.kind, TypeKind::Text) {
            let [_, bytes, count] = self.ranges;
            self.ranges[1] = bytes.meet(Range::new(count.low, count.high.saturating_mul(4)));
            self.ranges[2] = count.meet(Range::new((bytes.low + 3) / 4, bytes.high));
        }
        self
    }

    /// Narrowed to one text, or without it.
    pub(crate) const fn equal(mut self, text: &'a str, expected: bool) -> Self {
        match self.text {
            Some(own) if same(own, text) != expected => return self.without_value(),
            None if expected => self.text = Some(text),
            _ => return self,
        }
        if !matches!(self.kind, TypeKind::Text) {
            return self;
        }
        self.narrowed(Aspect::Length, Range::only(text.len() as i128))
            .narrowed(Aspect::Characters, Range::only(characters(text)))
    }

    /// Narrowed to the texts of which a test for a part has this answer.
    pub(crate) const fn affixed(
        mut self,
        test: &Expression,
        part: &'a str,
        expected: bool,
    ) -> Self {
        let [start, end] = self.affixes;
        let known = match (self.text, test) {
            (Some(whole), _) => whole,
            (None, Expression::StartsWith(..)) => start,
            (None, Expression::EndsWith(..)) => end,
            _ => "",
        };
        let is_open = self.text.is_none() && expected;
        if affix(test, known, part) {
            return if expected { self } else { self.without_value() };
        }
        match test {
            _ if !expected => return self,
            Expression::StartsWith(..) if is_open && starts_with(part, known) => {
                self.affixes = [part, end];
            }
            Expression::EndsWith(..) if is_open && ends_with(part, known) => {
                self.affixes = [start, part];
            }
            Expression::Contains(..) if is_open => {}
            _ => return self.without_value(),
        }
        self.narrowed(Aspect::Length, Range::new(part.len() as i128, i128::MAX))
            .narrowed(Aspect::Characters, Range::new(characters(part), i128::MAX))
    }

    /// The values that are left where a default is this one.
    pub(crate) const fn given(mut self, value: Value<'a>) -> Self {
        match value {
            Value::Unknown | Value::Values { .. } => return self,
            Value::Nothing if self.is_optional => return self.without_value(),
            _ => self.none = false,
        }
        match (value, value.as_kind(self.kind)) {
            (Value::List(items), _) if matches!(self.kind, TypeKind::List(_)) => {
                self.narrowed(Aspect::Length, Range::only(items as i128))
            }
            (Value::Text(text), Some((range, _))) => {
                self.narrowed(Aspect::Value, range).equal(text, true)
            }
            (_, Some((range, false))) => {
                self.nan = false;
                self.narrowed(Aspect::Value, range)
            }
            _ => self,
        }
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

    /// The numbers that a constant may mean as a value of a type, and whether it is NaN. Returns `None` where that is not known.
    pub(crate) const fn as_kind(self, kind: TypeKind) -> Option<(Range, bool)> {
        let range = match (self, kind) {
            (Self::Bool(value), TypeKind::Bool) => Range::only(value as i128),
            // A literal that does not fit its type means another number, and the largest stands for every larger one as well.
            (Self::Integer(value), TypeKind::Integer { low, high })
                if low <= value && value <= high && value != i128::MAX =>
            {
                Range::only(value)
            }
            (Self::Float(value), TypeKind::Float { .. }) if value.is_nan() => {
                return Some((Range::EMPTY, true));
            }
            (Self::Float(value), TypeKind::Float { single: true }) => rounded(value),
            (Self::Float(value), TypeKind::Float { single: false }) => Range::only(key(value)),
            (Self::Text(text), TypeKind::Text | TypeKind::Character) => text_key(text),
            _ => return None,
        };
        Some((range, false))
    }
}

/// The integers from `low` to `high`; none where the ends have crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: i128,
    pub(crate) high: i128,
}

impl Range {
    pub(crate) const EMPTY: Self = Self::new(1, 0);

    pub(crate) const fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    pub(crate) const fn only(value: i128) -> Self {
        Self::new(value, value)
    }

    const fn equals(self, other: Self) -> bool {
        self.low == other.low && self.high == other.high
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.low > self.high
    }

    #[cfg(test)]
    const fn holds(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    pub(crate) const fn meet(self, other: Self) -> Self {
        let low = if self.low > other.low { self } else { other }.low;
        let high = if self.high < other.high { self } else { other }.high;
        Self { low, high }
    }

    /// The least range with the numbers of both.
    pub(crate) const fn hull(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let low = if self.low < other.low { self } else { other }.low;
        let high = if self.high > other.high { self } else { other }.high;
        Self { low, high }
    }

    /// The numbers that may compare so with one of `other`.
    ///
    /// `i128::MAX` stands for every larger `u128` as well: it may be less than another of them, and unequal to it.
    pub(crate) const fn compared(self, comparison: Comparison, other: Self) -> Self {
        let (least, most) = (i128::MIN, i128::MAX);
        match comparison {
            Comparison::Less if other.high == most => self,
            Comparison::Less if other.high == least => Self::EMPTY,
            Comparison::Less => self.meet(Self::new(least, other.high - 1)),
            Comparison::AtMost => self.meet(Self::new(least, other.high)),
            Comparison::More => self.meet(Self::new(other.low.saturating_add(1), most)),
            Comparison::AtLeast => self.meet(Self::new(other.low, most)),
            Comparison::Equal => self.meet(other),
            Comparison::NotEqual if other.low != other.high || other.low == most => self,
            Comparison::NotEqual if self.low == self.high && self.low == other.low => Self::EMPTY,
            Comparison::NotEqual if self.low == other.low => Self::new(self.low + 1, self.high),
            Comparison::NotEqual if self.high == other.low => Self::new(self.low, self.high - 1),
            Comparison::NotEqual => self,
        }
    }
}

/// Floats in their order as integers, one step apart where no float lies between; both zeros are 0, and there is no NaN.
///
/// The order of the bits is that of IEEE 754-2019, section 5.10, for values of one sign.
const fn key(float: f64) -> i128 {
    let bits = float.to_bits();
    let magnitude = (bits & (u64::MAX >> 1)) as i128;
    if float.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// Every float but NaN.
const FLOATS: Range = Range::new(key(f64::NEG_INFINITY), key(f64::INFINITY));

/// Every float that a number in JSON can be.
pub(crate) const FINITE: Range = Range::new(key(f64::MIN), key(f64::MAX));

/// The `f32` that a literal means which was read as an `f64`.
///
/// Rounding twice differs from rounding once only half-way between two of them, and where they get coarser near zero: there it may be
/// any.
const fn rounded(float: f64) -> Range {
    const LOW_BITS: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    #[allow(clippy::cast_possible_truncation, reason = "it is what is asked for")]
    let near = float as f32;
    let is_half_way = float.to_bits() & LOW_BITS == HALF;
    if key(near as f64) == key(float) || (near.is_normal() && !is_half_way) {
        Range::only(key(near as f64))
    } else {
        FLOATS
    }
}

pub(crate) const fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && begins(one.as_bytes(), other.as_bytes())
}

/// Every text, by its key.
const TEXTS: Range = Range::new(0, i128::MAX - 1);

/// Texts in their order as numbers. Texts of more than 14 bytes share the number of their first bytes, so that they get a range.
const fn text_key(text: &str) -> Range {
    let (mut key, mut left, mut rest) = (0, 14, text.as_bytes());
    while let (1.., Some((byte, others))) = (left, rest.split_first()) {
        key = key * 257 + *byte as i128 + 1;
        left -= 1;
        rest = others;
    }
    key *= 3 * 257_i128.pow(left);
    Range::new(key, if rest.is_empty() { key } else { key + 2 })
}

/// The answer of a test of a text for a part of it.
const fn affix(test: &Expression, of: &str, part: &str) -> bool {
    match test {
        Expression::StartsWith(..) => starts_with(of, part),
        Expression::EndsWith(..) => ends_with(of, part),
        _ => contains(of, part),
    }
}

const fn starts_with(text: &str, part: &str) -> bool {
    begins(text.as_bytes(), part.as_bytes())
}

const fn ends_with(text: &str, part: &str) -> bool {
    match text.len().checked_sub(part.len()) {
        Some(start) => begins(text.as_bytes().split_at(start).1, part.as_bytes()),
        None => false,
    }
}

const fn contains(text: &str, part: &str) -> bool {
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
const fn characters(text: &str) -> i128 {
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
        fn keys_are_in_the_order_of_the_texts(text in "[\u{0}ab]{0,16}", other in "[\u{0}ab]{0,16}") {
            let (a, b) = (text_key(&text), text_key(&other));
            prop_assert!(text >= other || a.high < b.low || a == b && a.low < a.high);
            prop_assert!(text == other || a != b || a.low < a.high);
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
