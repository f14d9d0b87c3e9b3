//! The values that a parameter can still have, over-approximated.

use super::range::{FLOATS, Range};
use super::string_domain::{Test, Texts, ends_with, same, starts_with};
use crate::contract::type_kind::TypeKind;

/// Every value that has not been excluded, and more where it must be simple.
#[derive(Clone, Copy, Debug)]
pub(super) struct Domain<'a> {
    pub(super) kind: TypeKind,
    /// An optional can be `None`, and can be `Some`.
    pub(super) missing: bool,
    pub(super) present: bool,
    /// An integer, a float by its key, or 0 and 1 for a bool.
    pub(super) value: Range,
    pub(super) nan: bool,
    /// Bytes or items.
    pub(super) length: Range,
    pub(super) characters: Range,
    pub(super) texts: Texts<'a>,
    pub(super) prefix: &'a str,
    pub(super) suffix: &'a str,
    /// Of the values of a finite type, those that are left.
    pub(super) values: u64,
}

/// A number that a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aspect {
    Value,
    Length,
    Characters,
}

impl<'a> Domain<'a> {
    /// Every value of a type. A length is at most `isize::MAX`, and there are platforms where that is 63 bits.
    pub(super) const fn of(kind: TypeKind) -> Self {
        let counts = Range::new(0, i64::MAX as i128);
        Self {
            kind,
            missing: matches!(kind, TypeKind::Optional(_)),
            present: true,
            value: match kind {
                TypeKind::Bool => Range::new(0, 1),
                TypeKind::Integer { low, high } => Range::new(low, high),
                TypeKind::Float { .. } => FLOATS,
                _ => Range::ALL,
            },
            nan: matches!(kind, TypeKind::Float { .. }),
            length: counts,
            characters: counts,
            texts: Texts::ANY,
            prefix: "",
            suffix: "",
            values: u64::MAX,
        }
    }

    pub(super) const fn aspect(&self, aspect: Aspect) -> Range {
        match aspect {
            Aspect::Value => self.value,
            Aspect::Length => self.length,
            Aspect::Characters => self.characters,
        }
    }

    pub(super) const fn set(&mut self, aspect: Aspect, range: Range) {
        match aspect {
            Aspect::Value => self.value = range,
            Aspect::Length => self.length = range,
            Aspect::Characters => self.characters = range,
        }
        self.settle();
    }

    /// Lets what is known of a text in one way tell in the other ways: a character has one to four bytes.
    pub(super) const fn settle(&mut self) {
        if !matches!(self.kind, TypeKind::Text) {
            return;
        }
        let most = Range::new(0, self.characters.high.saturating_mul(4));
        self.length = self.length.from(self.characters).meet(most);
        let least = Range::new((self.length.low + 3) / 4, i128::MAX);
        self.characters = self.characters.up_to(self.length).meet(least);
        let (bytes, characters) = (self.length, self.characters);
        self.texts.keep(&Test::Bytes(bytes.low, bytes.high), true);
        self.texts
            .keep(&Test::Characters(characters.low, characters.high), true);
    }

    /// It begins (or ends) so, or it does not.
    pub(super) const fn affix(&mut self, part: &'a str, at_start: bool, wanted: bool) {
        let test = if at_start {
            Test::Starts(part)
        } else {
            Test::Ends(part)
        };
        self.texts.keep(&test, wanted);
        let known = if at_start { self.prefix } else { self.suffix };
        let (covered, covers) = if at_start {
            (starts_with(known, part), starts_with(part, known))
        } else {
            (ends_with(known, part), ends_with(part, known))
        };
        match (wanted, covered, covers) {
            (true, true, _) | (false, false, _) => {}
            (true, false, true) if at_start => self.prefix = part,
            (true, false, true) => self.suffix = part,
            (true, false, false) | (false, true, _) => self.exclude(),
        }
        if wanted {
            self.longer_than(part);
        }
    }

    pub(super) const fn containing(&mut self, part: &str, wanted: bool) {
        self.texts.keep(&Test::Contains(part), wanted);
        if wanted {
            self.longer_than(part);
        } else if part.is_empty() {
            self.exclude();
        }
    }

    const fn longer_than(&mut self, part: &str) {
        let least = super::string_domain::characters(part) as i128;
        self.length = self.length.meet(Range::new(part.len() as i128, i128::MAX));
        self.characters = self.characters.meet(Range::new(least, i128::MAX));
        self.settle();
    }

    /// Leaves no value.
    pub(super) const fn exclude(&mut self) {
        self.values = 0;
    }

    pub(super) const fn is_empty(&self) -> bool {
        (self.value.is_empty() && !self.nan)
            || self.length.is_empty()
            || self.characters.is_empty()
            || self.texts.are_none()
            || !(self.missing || self.present)
            || self.values == 0
    }

    pub(super) const fn same(&self, other: &Self) -> bool {
        self.missing == other.missing
            && self.present == other.present
            && self.value.same(other.value)
            && self.nan == other.nan
            && self.length.same(other.length)
            && self.characters.same(other.characters)
            && self.texts.same(&other.texts)
            && self.prefix.len() == other.prefix.len()
            && self.suffix.len() == other.suffix.len()
            && self.values == other.values
    }

    /// With what another one can be, of the same value.
    pub(super) const fn join(&mut self, other: &Self) {
        self.missing |= other.missing;
        self.present |= other.present;
        self.value = self.value.join(other.value);
        self.nan |= other.nan;
        self.length = self.length.join(other.length);
        self.characters = self.characters.join(other.characters);
        self.texts.join(&other.texts);
        self.values |= other.values;
        if !same(self.prefix, other.prefix) {
            self.prefix = "";
        }
        if !same(self.suffix, other.suffix) {
            self.suffix = "";
        }
    }
}
