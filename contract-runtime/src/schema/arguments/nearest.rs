//! Suggests the name that was probably meant.

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 64;

/// Returns the candidate closest to `given`, if it is close enough to be a typo.
///
/// Distance is that of optimal string alignment (insert, delete, replace, swap neighbours), without regard
/// to case and to `_`, `-`, `.` and spaces. A third of the letters may differ, at least one.
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut wanted = Vec::new();
    if !fold(given, &mut wanted) {
        return None;
    }
    let (counts, kinds) = (Counts::of(&wanted), kinds(&wanted));
    let mut letters = Vec::new();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let most_of = |length: usize| {
            let allowed = (wanted.len().max(length) / 3).max(1);
            best.map_or(allowed, |(best, _)| allowed.min(best - 1))
        };
        // Among thousands of names most have too many other letters, which is seen without taking them apart.
        if candidate.is_ascii() && apart(kinds, ascii_kinds(candidate)) > most_of(candidate.len()) {
            continue;
        }
        if !fold(candidate, &mut letters) {
            continue;
        }
        let most = most_of(letters.len());
        // Few are compared letter by letter.
        if wanted.len().abs_diff(letters.len()) > most
            || counts.least_distance(&Counts::of(&letters)) > most
            || !wanted.iter().any(|letter| letters.contains(letter))
        {
            continue;
        }
        let distance = distance(&wanted, &letters);
        if distance <= most {
            best = Some((distance, candidate));
            // Of several, the first is taken.
            if distance == 0 {
                break;
            }
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the only candidate that differs from `given` by a prefix on either side, such as `calendar_add` from `add`.
pub(crate) fn prefixed<'a>(
    given: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let ends_with = |long: &str, short: &str| {
        let prefix = long.strip_suffix(short);
        !short.is_empty()
            && prefix.is_some_and(|prefix| prefix.ends_with(['_', '-', '.', ':', '/']))
    };
    let mut found =
        candidates.filter(|candidate| ends_with(candidate, given) || ends_with(given, candidate));
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// Collects the letters without case and without the joints that names differ in (`maxItems`, `max_items`); false where there
/// are too many.
fn fold(name: &str, letters: &mut Vec<char>) -> bool {
    letters.clear();
    let joint = |letter: char| matches!(letter, '_' | '-' | ' ' | '.');
    if name.is_ascii() {
        if name.len() > LONGEST {
            return false;
        }
        let plain = name
            .bytes()
            .map(char::from)
            .filter(|letter| !joint(*letter));
        letters.extend(plain.map(|letter| letter.to_ascii_lowercase()));
        return true;
    }
    if name.len() > LONGEST * 4 || name.chars().count() > LONGEST {
        return false;
    }
    let chars = name.chars().filter(|letter| !joint(*letter));
    letters.extend(chars.flat_map(char::to_lowercase));
    true
}

/// Which of 32 kinds of letters are there, a bit for each: the ASCII letters of either case, and further ones among them.
fn kinds(letters: &[char]) -> u32 {
    let kinds = letters.iter().map(|letter| 1 << (u32::from(*letter) % 32));
    kinds.fold(0, |all, kind: u32| all | kind)
}

/// The same of a name that is not taken apart.
fn ascii_kinds(name: &str) -> u32 {
    let kind = |byte: u8| match byte {
        b'_' | b'-' | b' ' | b'.' => 0,
        letter => 1 << (letter % 32),
    };
    name.bytes().fold(0, |all, byte| all | kind(byte))
}

/// Less than this two names cannot be apart: an edit makes up for one kind that is missing and for one that is too many.
fn apart(one: u32, other: u32) -> usize {
    let (missing, extra) = (one & !other, other & !one);
    missing.count_ones().max(extra.count_ones()) as usize
}

/// How often each of 32 kinds of letters is in a name.
struct Counts([u8; 32]);

impl Counts {
    fn of(letters: &[char]) -> Self {
        let mut counts = [0_u8; 32];
        for letter in letters {
            let kind = (u32::from(*letter) % 32) as usize;
            counts[kind] = counts[kind].saturating_add(1);
        }
        Self(counts)
    }

    /// Less than this two names cannot be apart: an edit makes up for one missing letter and for one that is too many, and a
    /// swap for none.
    fn least_distance(&self, other: &Self) -> usize {
        let (mut missing, mut extra) = (0, 0);
        for (own, other) in self.0.iter().zip(&other.0) {
            missing += usize::from(own.saturating_sub(*other));
            extra += usize::from(other.saturating_sub(*own));
        }
        missing.max(extra)
    }
}

/// Optimal string alignment distance (Damerau 1964, restricted to one edit per substring).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != other);
            let mut best = replaced.min(above[column + 1] + 1).min(current[column] + 1);
            let swapped =
                row > 0 && column > 0 && *letter == right[column - 1] && left[row - 1] == *other;
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Counts, distance, fold, nearest, prefixed};

    /// By comparing everything.
    fn nearest_of_all<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
        let folded = |name: &str| {
            let mut letters = Vec::new();
            fold(name, &mut letters).then_some(letters)
        };
        let wanted = folded(given)?;
        let close = candidates.iter().filter_map(|candidate| {
            let letters = folded(candidate)?;
            let distance = distance(&wanted, &letters);
            let allowed = (wanted.len().max(letters.len()) / 3).max(1);
            let common = wanted.iter().any(|letter| letters.contains(letter));
            (common && distance <= allowed).then_some((distance, *candidate))
        });
        close
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, candidate)| candidate)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_passed_over_is_not_the_nearest(
            given in "[a-eA_é]{0,9}",
            names in prop::collection::vec("[a-eA_é]{0,9}", 0..12),
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            prop_assert_eq!(nearest(&given, names.iter().copied()), nearest_of_all(&given, &names));
        }

        #[test]
        fn no_distance_is_less_than_the_letters_say(one in "[a-e]{0,9}", other in "[a-e]{0,9}") {
            let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
            let least = Counts::of(&one).least_distance(&Counts::of(&other));
            prop_assert!(least <= distance(&one, &other));
        }
    }

    #[test]
    fn a_prefix_may_be_missing_or_added() {
        let names = ["calendar_add", "notes_add", "convert", "notes_list"];
        for (given, meant) in [
            ("list", Some("notes_list")),
            ("functions.convert", Some("convert")),
            ("mcp__desk__notes_list", Some("notes_list")),
            // Two could be meant.
            ("add", None),
            // No word of its own.
            ("ist", None),
            ("reconvert", None),
            ("", None),
        ] {
            assert_eq!(prefixed(given, names.into_iter()), meant, "{given}");
        }
        assert_eq!(prefixed("", ["a_"].into_iter()), None);
    }

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["query", "limit", "max_items", "é"];
        for (given, meant) in [
            ("querry", Some("query")),
            ("Query", Some("query")),
            ("qurey", Some("query")),
            ("maxItems", Some("max_items")),
            ("limits", Some("limit")),
            ("E\u{301}", None),
            ("offset", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, names.into_iter()), meant, "{given}");
        }
        assert_eq!(nearest(&"q".repeat(1_000_000), names.into_iter()), None);
        assert_eq!(nearest("a", std::iter::empty()), None);
    }
}
