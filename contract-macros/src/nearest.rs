//! "Did you mean": finds the known word closest to a mistyped one.

/// The candidate within two edits of `given`, or within a third of its length; case and underscores do not count.
pub(crate) fn nearest<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let given = folded(given);
    let limit = match given.len() {
        0 => return None,
        1..=3 => 1,
        length => (length / 3).max(2),
    };
    candidates
        .iter()
        .map(|candidate| (distance(&given, &folded(candidate)), *candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> Vec<char> {
    word.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Optimal string alignment distance (Damerau 1964, Levenshtein 1966): insert, delete, replace, swap neighbours.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=left.len() {
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[left.len()][right.len()]
}
