//! The values that a text parameter can still have, and its known prefixes and suffixes.

const MOST: usize = 8;

/// A few texts, or any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'a> {
    few: bool,
    list: [&'a str; MOST],
    count: usize,
}

impl<'a> Texts<'a> {
    pub(super) const ANY: Self = Self {
        few: false,
        list: [""; MOST],
        count: 0,
    };

    pub(super) const fn only(text: &'a str) -> Self {
        let mut texts = Self {
            few: true,
            ..Self::ANY
        };
        texts.add(text);
        texts
    }

    pub(super) const fn are_few(&self) -> bool {
        self.few
    }

    pub(super) const fn are_none(&self) -> bool {
        self.few && self.count == 0
    }

    pub(super) const fn list(&self) -> &[&'a str] {
        self.list.split_at(self.count).0
    }

    pub(super) const fn same(&self, other: &Self) -> bool {
        // They only ever get fewer.
        self.few == other.few && self.count == other.count
    }

    const fn has(&self, text: &str) -> bool {
        let mut rest = self.list();
        while let Some((one, others)) = rest.split_first() {
            if same(one, text) {
                return true;
            }
            rest = others;
        }
        false
    }

    const fn add(&mut self, text: &'a str) {
        if !self.few || self.has(text) {
            return;
        }
        if self.count == MOST {
            *self = Self::ANY;
            return;
        }
        self.list[self.count] = text;
        self.count += 1;
    }

    /// Without those of which a test does not answer `wanted`.
    pub(super) const fn keep(&mut self, test: &Test<'_>, wanted: bool) {
        if !self.few {
            return;
        }
        let mut kept = Self {
            few: true,
            ..Self::ANY
        };
        let mut rest = self.list();
        while let Some((one, others)) = rest.split_first() {
            if test.holds(one) == wanted {
                kept.add(one);
            }
            rest = others;
        }
        *self = kept;
    }

    pub(super) const fn join(&mut self, other: &Self) {
        if !other.few {
            *self = Self::ANY;
        }
        let mut rest = other.list();
        while let Some((one, others)) = rest.split_first() {
            self.add(one);
            rest = others;
        }
    }
}

/// What is asked of a text.
pub(super) enum Test<'t> {
    Is(&'t str),
    Starts(&'t str),
    Ends(&'t str),
    Contains(&'t str),
    /// So many bytes, at least and at most.
    Bytes(i128, i128),
    /// So many characters, at least and at most.
    Characters(i128, i128),
}

impl Test<'_> {
    const fn holds(&self, text: &str) -> bool {
        match self {
            Self::Is(other) => same(text, other),
            Self::Starts(part) => starts_with(text, part),
            Self::Ends(part) => ends_with(text, part),
            Self::Contains(part) => contains(text, part),
            Self::Bytes(low, high) => within(text.len(), *low, *high),
            Self::Characters(low, high) => within(characters(text), *low, *high),
        }
    }
}

const fn within(count: usize, low: i128, high: i128) -> bool {
    let count = count as i128;
    low <= count && count <= high
}

pub(crate) const fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && begins(one.as_bytes(), other.as_bytes())
}

pub(super) const fn starts_with(text: &str, part: &str) -> bool {
    begins(text.as_bytes(), part.as_bytes())
}

pub(super) const fn ends_with(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    match text.len().checked_sub(part.len()) {
        Some(start) => begins(text.split_at(start).1, part),
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

/// How many code points there are: bytes that do not continue one.
pub(super) const fn characters(text: &str) -> usize {
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
        fn the_tests_answer_as_those_of_the_standard_library(text in "[abä]{0,5}", part in "[abä]{0,3}") {
            prop_assert_eq!(same(&text, &part), text == part);
            prop_assert_eq!(starts_with(&text, &part), text.starts_with(&part));
            prop_assert_eq!(ends_with(&text, &part), text.ends_with(&part));
            prop_assert_eq!(contains(&text, &part), text.contains(&part));
            prop_assert_eq!(characters(&text), text.chars().count());
        }
    }

    #[test]
    fn more_texts_than_fit_are_any() {
        let mut texts = Texts::only("0");
        for text in ["1", "2", "3", "4", "5", "6", "7", "7"] {
            texts.join(&Texts::only(text));
        }
        assert_eq!(texts.list().len(), MOST);
        texts.join(&Texts::only("8"));
        assert!(!texts.are_few());
    }
}
