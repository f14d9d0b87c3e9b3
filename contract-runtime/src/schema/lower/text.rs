//! Lowers conditions on texts, and on the length of texts and lists.

use serde_json::Value;

use super::constant::COUNTS;
use super::fragment::{Fragment, Keywords, distinct};
use super::span::Span;
use crate::contract::expression::Comparison;
use crate::schema::pattern;

/// A char of UTF-8 has at most this many bytes.
const BYTES: i128 = 4;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Bytes,
    Characters,
    Items,
}

impl Count {
    const fn keywords(self) -> [&'static str; 2] {
        match self {
            Self::Bytes | Self::Characters => ["minLength", "maxLength"],
            Self::Items => ["minItems", "maxItems"],
        }
    }

    /// The count compared with a constant.
    ///
    /// `minLength` and `maxLength` count characters (JSON Schema Validation 2020-12, section 6.3), `str::len` bytes.
    pub(super) fn compared(self, comparison: Comparison, constant: i128) -> Option<Fragment> {
        match Span::of(comparison, constant, COUNTS)? {
            Span::Nothing => Some(Fragment::never()),
            Span::Except(_) if self == Self::Bytes => None,
            Span::Except(value) => Some(Fragment::not(self.within(Some(value), Some(value))?)),
            Span::Within(first, last) if self == Self::Bytes => {
                let fewest = first.map(|bytes| (bytes - 1) / BYTES + 1);
                let keywords = self.within(fewest, last)?;
                let exact =
                    first.is_none_or(|first| first <= 1) && last.is_none_or(|last| last == 0);
                let fragment = Fragment::new(keywords, true);
                Some(if exact { fragment } else { fragment.partial() })
            }
            Span::Within(first, last) => Some(Fragment::new(self.within(first, last)?, true)),
        }
    }

    fn within(self, first: Option<i128>, last: Option<i128>) -> Option<Keywords> {
        let mut keywords = Keywords::new();
        for (keyword, end) in self.keywords().into_iter().zip([first, last]) {
            if let Some(end) = end {
                keywords.insert(keyword.to_owned(), u64::try_from(end).ok()?.into());
            }
        }
        Some(keywords)
    }
}

/// One of these values, or none of them.
pub(super) fn listed(values: Vec<Value>, expected: bool) -> Fragment {
    let values = distinct(values);
    if expected {
        Fragment::among(values)
    } else {
        Fragment::except(values)
    }
}

/// Where a text must hold another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affix {
    Start,
    End,
    Anywhere,
}

/// A text that holds another, or does not.
pub(super) fn holding(affix: Affix, text: &str, expected: bool) -> Option<Fragment> {
    if text.is_empty() {
        return Some(if expected {
            Fragment::always()
        } else {
            Fragment::never()
        });
    }
    let literal = pattern::literal(text)?;
    let pattern = match affix {
        Affix::Start => format!("^{literal}"),
        Affix::End => format!("{literal}$"),
        Affix::Anywhere => literal,
    };
    Some(matching(pattern, expected))
}

/// A text that matches a pattern, or does not.
pub(super) fn matched(written: &str, expected: bool) -> Option<Fragment> {
    Some(matching(pattern::portable(written)?, expected))
}

/// A text of ASCII alone, or another.
pub(super) fn ascii(expected: bool) -> Fragment {
    matching(pattern::ASCII.to_owned(), expected)
}

fn matching(pattern: String, expected: bool) -> Fragment {
    let fragment = Fragment::one("pattern", Value::String(pattern));
    if expected {
        fragment
    } else {
        Fragment::not(fragment.keywords)
    }
}
