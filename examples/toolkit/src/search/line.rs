//! Showing a line, or what surrounds a match in it.

use std::ops::Range;

/// What stands where something was left out.
const MARK: &str = "..";

/// A line of at most this many characters, and of a longer one the surroundings of the match.
pub(super) fn shown_line(line: &[u8], found: Range<usize>, characters: usize) -> String {
    if line.len() <= characters {
        return text(line);
    }
    // A character has at most four bytes, so that this much is enough, however long the line is.
    let bytes = characters.saturating_mul(4).saturating_add(4);
    let start = boundary(line, found.start.min(line.len()));
    let from = boundary(line, start.saturating_sub(bytes));
    let to = boundary(line, start.saturating_add(bytes).min(line.len()));
    let before = text(line.get(from..start).unwrap_or_default());
    let after = text(line.get(start..to).unwrap_or_default());
    let (before_count, after_count) = (before.chars().count(), after.chars().count());
    // A quarter goes before the match; what one side does not need, the other gets.
    let wanted = before_count.min((characters / 4).max(characters.saturating_sub(after_count)));
    let rest = characters.saturating_sub(wanted);

    let mut shown = String::new();
    if from > 0 || before_count > wanted {
        shown.push_str(MARK);
    }
    shown.extend(before.chars().skip(before_count.saturating_sub(wanted)));
    shown.extend(after.chars().take(rest));
    if to < line.len() || after_count > rest {
        shown.push_str(MARK);
    }
    shown
}

/// The next place at or before this one where a character may begin; a byte that is not UTF-8 is a character of its own.
fn boundary(line: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| {
            line.get(*at)
                .is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
        })
        .unwrap_or(at)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_that_fits_is_whole() {
        assert_eq!(shown_line(b"one two", 4..7, 7), "one two");
        assert_eq!(shown_line("äöüß".as_bytes(), 2..4, 4), "äöüß");
    }

    #[test]
    fn a_long_line_shows_the_match_and_says_what_is_missing() {
        let line = format!("{}needle{}", "a".repeat(100), "b".repeat(100));
        assert_eq!(
            shown_line(line.as_bytes(), 100..106, 20),
            "..aaaaaneedlebbbbbbbbb.."
        );
        let line = format!("needle{}", "b".repeat(100));
        assert_eq!(shown_line(line.as_bytes(), 0..6, 10), "needlebbbb..");
        let line = format!("{}needle", "a".repeat(100));
        assert_eq!(shown_line(line.as_bytes(), 100..106, 10), "..aaaaneedle");
    }

    proptest! {
        #[test]
        fn no_character_is_split_and_none_too_many_is_shown(
            before in "[aä漢🙂]{0,40}", after in "[aä漢🙂]{0,40}", characters in 1_usize..30,
        ) {
            let line = format!("{before}x{after}");
            let shown = shown_line(line.as_bytes(), before.len()..before.len() + 1, characters);
            let plain = shown.trim_matches('.');
            prop_assert!(line.contains(plain));
            prop_assert!(plain.contains('x'));
            let all = line.chars().count();
            prop_assert_eq!(plain.chars().count(), all.min(characters));
            prop_assert_eq!(shown.starts_with(".."), !line.starts_with(plain));
            prop_assert_eq!(shown.ends_with(".."), !line.ends_with(plain));
        }

        #[test]
        fn any_bytes_can_be_shown(line: Vec<u8>, start: usize, characters in 0_usize..50) {
            let shown = shown_line(&line, start..start, characters);
            prop_assert!(shown.chars().count() <= characters.max(line.len().min(characters)) + 4);
        }
    }
}
