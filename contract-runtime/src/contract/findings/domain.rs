//! The values that a parameter may have, and how they are split in two.

use super::evaluation::{Evaluation, Seek};
use super::range::{FLOATS, Range, key, rounded};
use super::text::{characters, contains};
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
