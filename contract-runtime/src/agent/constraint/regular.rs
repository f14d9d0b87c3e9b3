//! Regular languages over characters: what a scalar may look like.

/// A set of texts that needs no recursion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Regular {
    /// One character of these ranges.
    Class(Vec<(char, char)>),
    /// Any character of a JSON string, as it may be spelled between the quotes.
    Char,
    /// Exactly this.
    Text(String),
    /// One after the other.
    Sequence(Vec<Regular>),
    /// One of them; none of them where there are none.
    Either(Vec<Regular>),
    /// Again and again.
    Repeat(Box<Regular>, usize, Option<usize>),
}

impl Regular {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn empty() -> Self {
        Self::Text(String::new())
    }

    pub(super) const fn never() -> Self {
        Self::Either(Vec::new())
    }

    pub(super) fn class(ranges: &[(char, char)]) -> Self {
        match ranges {
            [] => Self::never(),
            [(low, high)] if low == high => Self::text(*low),
            ranges => Self::Class(ranges.to_vec()),
        }
    }

    pub(super) fn digits(low: u8, high: u8) -> Self {
        if low > high {
            return Self::never();
        }
        let digit = |digit: u8| char::from(b'0' + digit.min(9));
        Self::class(&[(digit(low), digit(high))])
    }

    pub(super) fn any_digits(min: usize, max: Option<usize>) -> Self {
        Self::digits(0, 9).repeat(min, max)
    }

    pub(super) fn sequence(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for part in parts {
            match (part, all.last_mut()) {
                (Self::Either(none), _) if none.is_empty() => return Self::never(),
                (Self::Text(more), Some(Self::Text(text))) => text.push_str(&more),
                (Self::Text(text), _) if text.is_empty() => {}
                (Self::Sequence(parts), _) => all.extend(parts),
                (part, _) => all.push(part),
            }
        }
        several(all, Self::empty, Self::Sequence)
    }

    pub(super) fn either(options: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for option in options {
            match option {
                Self::Either(options) => all.extend(options),
                option if all.contains(&option) => {}
                option => all.push(option),
            }
        }
        several(all, Self::never, Self::Either)
    }

    pub(super) fn repeat(self, min: usize, max: Option<usize>) -> Self {
        match (min, max) {
            (_, Some(0)) => Self::empty(),
            (1, Some(1)) => self,
            (min, Some(max)) if min > max => Self::never(),
            (0, _) if self.is_never() => Self::empty(),
            _ if self.is_never() || self == Self::empty() => self,
            _ => Self::Repeat(Box::new(self), min, max),
        }
    }

    pub(super) fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self, Self::Either(options) if options.is_empty())
    }
}

/// Any character of a JSON string in every spelling that means a character (RFC 8259, section 7): surrogates come in pairs.
pub(super) fn json_char() -> Regular {
    const HEX: [(char, char); 3] = [('0', '9'), ('A', 'F'), ('a', 'f')];
    let hex = |times| Regular::class(&HEX).repeat(times, Some(times));
    let lone = Regular::either([
        Regular::sequence([
            Regular::class(&[('0', '9'), ('A', 'C'), ('E', 'F'), ('a', 'c'), ('e', 'f')]),
            hex(3),
        ]),
        Regular::sequence([
            Regular::class(&[('D', 'D'), ('d', 'd')]),
            Regular::class(&[('0', '7')]),
            hex(2),
        ]),
    ]);
    let pair = Regular::sequence([
        Regular::class(&[('D', 'D'), ('d', 'd')]),
        Regular::class(&[('8', '9'), ('A', 'B'), ('a', 'b')]),
        hex(2),
        Regular::text("\\u"),
        Regular::class(&[('D', 'D'), ('d', 'd')]),
        Regular::class(&[('C', 'F'), ('c', 'f')]),
        hex(2),
    ]);
    let short = ['"', '\\', '/', 'b', 'f', 'n', 'r', 't'].map(|letter| (letter, letter));
    Regular::either([
        Regular::class(&[(' ', '!'), ('#', '['), (']', char::MAX)]),
        Regular::sequence([Regular::text("\\"), Regular::class(&short)]),
        Regular::sequence([Regular::text("\\u"), Regular::either([lone, pair])]),
    ])
}

/// Parts put together: nothing of them, the only one, or all.
pub(super) fn several<T>(
    mut all: Vec<T>,
    none: impl FnOnce() -> T,
    together: impl FnOnce(Vec<T>) -> T,
) -> T {
    match (all.pop(), all.is_empty()) {
        (None, _) => none(),
        (Some(only), true) => only,
        (Some(last), false) => {
            all.push(last);
            together(all)
        }
    }
}

/// In brackets where it must count as one, as GBNF and Lark both write it.
pub(super) fn group(text: String, one: bool) -> String {
    if one { format!("({text})") } else { text }
}

/// How often something stands, as regular expressions, GBNF and Lark all write it.
pub(super) fn times(min: usize, max: Option<usize>) -> String {
    match (min, max) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) if min == max => format!("{{{min}}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    }
}
