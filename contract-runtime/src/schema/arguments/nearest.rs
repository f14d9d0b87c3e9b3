//! Suggests the name that was probably meant.

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 64;

/// Returns the candidate closest to `given`, if it is close enough to be a typo.
///
/// Distance is that of optimal string alignment (insert, delete, replace, swap neighbours), without regard
/// to case and to `_`, `-`, `.` and spaces. A third of the letters may differ, at least one.
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(given)?;
    candidates
        .filter_map(|candidate| {
            let letters = folded(candidate)?;
            let distance = distance(&wanted, &letters);
            let allowed = (wanted.len().max(letters.len()) / 3).max(1);
            let common = wanted.iter().any(|letter| letters.contains(letter));
            (common && distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters without case and without the joints that names differ in (`maxItems`, `max_items`).
fn folded(name: &str) -> Option<Vec<char>> {
    let within = name.len() <= LONGEST * 4 && name.chars().count() <= LONGEST;
    within.then(|| {
        let joint = |letter: &char| !matches!(letter, '_' | '-' | ' ' | '.');
        name.chars()
            .filter(joint)
            .flat_map(char::to_lowercase)
            .collect()
    })
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
    use super::nearest;

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
