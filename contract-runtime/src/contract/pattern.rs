//! Regular expressions in predicates, compiled once.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use regex_lite::Regex;

/// Returns whether some part of `text` matches the regular expression `pattern`.
///
/// It is the one regular expression that a contract can publish: a condition made of it also reaches the model as the
/// keyword `pattern`, and a remote peer as a portable rule, where every engine reads the pattern alike: ASCII letters and
/// classes, `^` and `$`, groups, alternatives and repetitions of at most a thousand. Any other pattern is enforced, and described in
/// words.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Close an account.
/// #[tool]
/// #[pre(matches_pattern(iban, r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$"), "not an IBAN")]
/// fn close(iban: &str) {}
///
/// assert!(matches_pattern("order 66", r"\d+"));
/// assert!(!matches_pattern("order 66", r"^\d+$"));
/// assert!(!matches_pattern("\u{0661}", r"\d"), "`\\d` is an ASCII digit");
/// ```
///
/// The syntax is that of the crate `regex-lite`: without anchors the match may stand anywhere, `\d`, `\w` and `\s` are
/// ASCII, `.` is any character but a line feed, and there is neither look-around nor reference. Time grows with the length of
/// the text times that of the pattern, never faster. A pattern is compiled once, at its first use.
///
/// # Panics
///
/// When the pattern is not a regular expression. In a predicate that is a violation; the attributes refuse such a literal
/// when they read it, and a registry such a constant when it is built.
#[must_use]
pub fn matches_pattern(text: &str, pattern: &'static str) -> bool {
    static COMPILED: Compiled<256> = Compiled::new();
    COMPILED.is_match(text, pattern)
}

/// Whether `pattern` is one that [`matches_pattern`] can compile; if not, why.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    Regex::new(pattern)
        .map(drop)
        .map_err(|error| error.to_string())
}

fn compile(pattern: &str) -> Regex {
    match Regex::new(pattern) {
        Ok(regex) => regex,
        Err(error) => panic!("`{pattern}` is not a regular expression: {error}"),
    }
}

/// Compiled patterns by their text: a table of places that are filled once and read without a lock.
struct Compiled<const PLACES: usize> {
    places: [OnceLock<(&'static str, Regex)>; PLACES],
}

impl<const PLACES: usize> Compiled<PLACES> {
    /// So many places after its own are tried for a pattern; then it is compiled for this use alone.
    const TRIED: usize = 16;

    const fn new() -> Self {
        Self {
            places: [const { OnceLock::new() }; PLACES],
        }
    }

    fn is_match(&self, text: &str, pattern: &'static str) -> bool {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "any part of a hash will do"
        )]
        let home = FixedState::default().hash_one(pattern) as usize % PLACES;
        let (before, after) = self.places.split_at(home);
        for place in after.iter().chain(before).take(Self::TRIED) {
            let (known, regex) = place.get_or_init(|| (pattern, compile(pattern)));
            if *known == pattern {
                return regex.is_match(text);
            }
        }
        compile(pattern).is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::panics::guard;

    fn patterns(count: usize) -> Vec<&'static str> {
        let leak = |number| &*Box::leak(format!("^{number}$").into_boxed_str());
        (0..count).map(leak).collect()
    }

    #[test]
    fn more_patterns_than_places_are_still_told_apart() {
        let (compiled, patterns) = (Compiled::<20>::new(), patterns(100));
        for (number, pattern) in patterns.iter().enumerate() {
            assert!(compiled.is_match(&number.to_string(), pattern));
            assert!(!compiled.is_match(&(number + 1).to_string(), pattern));
        }
        for (number, pattern) in patterns.iter().enumerate() {
            assert!(compiled.is_match(&number.to_string(), pattern));
        }
    }

    #[test]
    fn a_pattern_that_is_none_leaves_the_table_as_it_was() {
        let compiled = Compiled::<1>::new();
        for _ in 0..2 {
            let panicked = guard(|| compiled.is_match("", "(")).unwrap_err();
            let text = panicked.text.unwrap();
            assert!(
                text.starts_with("`(` is not a regular expression: "),
                "{text}"
            );
        }
        assert!(compiled.is_match("a", "a"));
        assert!(check("(").is_err());
        assert_eq!(check("a"), Ok(()));
    }
}
