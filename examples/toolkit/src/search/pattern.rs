//! From the text of a pattern to what finds it in a line.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SearchProblem;
use crate::path::escape;

/// Whether `a` finds `A`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// No.
    #[default]
    Sensitive,
    /// Yes.
    Insensitive,
    /// Yes, unless the pattern has a capital letter.
    Smart,
}

/// A pattern that is ready to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) matcher: RegexMatcher,
    /// The longest line that may be given to it, in bytes.
    pub(super) line_bytes: usize,
}

/// How large a compiled pattern may be, in bytes, and how long a line it then gets.
///
/// Nothing can interrupt the regex engine within a line, and at worst it takes time in proportion to the product of the
/// two (Thompson, Regular Expression Search Algorithm, 1968). With these, the worst that could be found takes some
/// seconds for one line: `[01]*1[01]{n}x` in random digits, which `campaigns/sparse.rs` measures.
const SIZES: [(usize, usize); 6] = [
    (2 << 10, 4 << 20),
    (8 << 10, 1 << 20),
    (32 << 10, 256 << 10),
    (128 << 10, 64 << 10),
    (512 << 10, 16 << 10),
    // Room for counted repeats of `\w`, of which few parts are busy at a time.
    (2 << 20, 16 << 10),
];

/// What the lazily built automaton may take, in bytes for each thread; beyond that it is built anew.
const DFA_BYTES: usize = 2 << 20;

impl Pattern {
    pub(super) fn new(text: &str, case: Case, literal: bool) -> Result<Self, SearchProblem> {
        if !literal {
            check(text)?;
        }
        let mut refused = None;
        for (size, line_bytes) in SIZES {
            match compile(text, case, literal, size) {
                Ok(matcher) => {
                    return Ok(Self {
                        matcher,
                        line_bytes,
                    });
                }
                Err(error) => refused = Some(error),
            }
        }
        Err(match refused.as_ref().map(grep_regex::Error::kind) {
            Some(ErrorKind::NotAllowed(_)) => SearchProblem::NoLine {
                what: "a line break".to_owned(),
            },
            Some(ErrorKind::Banned(_)) => SearchProblem::NoLine {
                what: "a zero byte".to_owned(),
            },
            Some(ErrorKind::Regex(reason)) => SearchProblem::Complex {
                reason: escape(reason.lines().last().unwrap_or_default()),
            },
            _ => SearchProblem::Complex {
                reason: "it cannot be compiled".to_owned(),
            },
        })
    }
}

fn compile(
    text: &str,
    case: Case,
    literal: bool,
    size: usize,
) -> Result<RegexMatcher, grep_regex::Error> {
    RegexMatcherBuilder::new()
        .multi_line(true)
        .case_insensitive(case == Case::Insensitive)
        .case_smart(case == Case::Smart)
        .fixed_strings(literal)
        .line_terminator(Some(b'\n'))
        .ban_byte(Some(0))
        .size_limit(size)
        .dfa_size_limit(DFA_BYTES)
        .build_many(&[text])
}

/// Says where a mistake is, which the matcher's own message draws with a second line.
fn check(text: &str) -> Result<(), SearchProblem> {
    let parsed = regex_syntax::ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .build()
        .parse(text);
    let (reason, start) = match parsed {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span().start),
        Err(regex_syntax::Error::Translate(error)) => {
            (error.kind().to_string(), error.span().start)
        }
        Err(_) => {
            return Err(SearchProblem::Complex {
                reason: "it cannot be read".to_owned(),
            });
        }
    };
    let before = text.get(..start.offset).unwrap_or(text);
    Err(SearchProblem::Pattern {
        reason,
        character: before.chars().count() + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_patterns_are_searched_in_long_lines() {
        for (text, at_least) in [
            ("needle", 4 << 20),
            (r"fn main\(\)", 4 << 20),
            (r"TODO|FIXME|XXX", 4 << 20),
            (r"^\s*fn .*\(", 1 << 20),
            (r"fn \w+\(", 64 << 10),
            (r"\w+@\w+\.\w+", 16 << 10),
            (r"\b\w{1,30}\b", 16 << 10),
            (r"[0-9a-f]{40}", 256 << 10),
        ] {
            let line_bytes =
                Pattern::new(text, Case::Sensitive, false).map(|pattern| pattern.line_bytes);
            assert!(
                line_bytes.as_ref().is_ok_and(|bytes| *bytes >= at_least),
                "{text}: {line_bytes:?}"
            );
        }
    }
}
