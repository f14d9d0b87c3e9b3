//! "Did you mean": finds the known word closest to a mistyped one.

use strsim::osa_distance;

/// The candidate within two edits of `given`, or within a third of its length; case and underscores do not count.
pub(crate) fn nearest<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let given = folded(given);
    let limit = match given.chars().count() {
        0 => return None,
        1..=3 => 1,
        length => (length / 3).max(2),
    };
    candidates
        .iter()
        .map(|candidate| (osa_distance(&given, &folded(candidate)), *candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> String {
    word.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}
