//! Suggests the name that was probably meant.

use strsim::osa_distance;

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 64;

/// Returns the candidate closest to `given`, if it is close enough to be a typo.
///
/// Distance is that of optimal string alignment (insert, delete, replace, swap neighbours), without regard
/// to case and to `_`, `-`, `.` and spaces. A third of the letters may differ, at least one.
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(given)?;
    let close = candidates.filter_map(|candidate| {
        let letters = folded(candidate)?;
        let length = |name: &str| name.chars().count();
        let allowed = (length(&wanted).max(length(&letters)) / 3).max(1);
        let distance = osa_distance(&wanted, &letters);
        let related = wanted.chars().any(|letter| letters.contains(letter));
        (related && distance <= allowed).then_some((distance, candidate))
    });
    let nearest = close.min_by_key(|(distance, _)| *distance);
    nearest.map(|(_, candidate)| candidate)
}

/// Returns the only candidate that has the words of `given`, or whose words `given` has, such as `path` for `file_path`.
pub fn by_words<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let words = |name: &str| format!("_{}_", name.replace(['-', '.', ':', '/'], "_"));
    let wanted = words(given);
    let mut found = candidates.filter(|candidate| {
        let own = words(candidate);
        !given.is_empty() && (own.contains(&wanted) || wanted.contains(&own))
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// The name without case and without the joints that names differ in (`maxItems`, `max_items`), unless it is too long.
fn folded(name: &str) -> Option<String> {
    let letters = name
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'));
    let is_short = name.chars().nth(LONGEST).is_none();
    is_short.then(|| letters.flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::{by_words, nearest};

    #[test]
    fn words_in_front_and_behind_may_be_missing_or_added() {
        let names = ["calendar_add", "notes_add", "convert", "notes_list"];
        for (given, meant) in [
            ("list", Some("notes_list")),
            ("functions.convert", Some("convert")),
            ("mcp__desk__notes_list", Some("notes_list")),
            ("convert_units", Some("convert")),
            ("calendar", Some("calendar_add")),
            // Two could be meant.
            ("add", None),
            ("notes", None),
            // No word of its own.
            ("ist", None),
            ("reconvert", None),
            ("", None),
        ] {
            assert_eq!(by_words(given, names.into_iter()), meant, "{given}");
        }
        assert_eq!(by_words("", ["a_"].into_iter()), None);
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
