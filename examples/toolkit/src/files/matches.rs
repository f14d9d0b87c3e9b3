//! Where a text stands in another, and why it does not.

use std::borrow::Cow;

use super::edit::{Lines, NAMED};

/// So many lines are named in a message.
const SHOWN: usize = 10;

/// The lines that each new text has taken, in the text after all replacements.
pub(super) fn lines(text: &str, old: &str, new: &str) -> Vec<Lines> {
    let breaks = newlines(new);
    // A newline at the end of the new text ends its last line and begins none.
    let further = breaks - usize::from(new.ends_with('\n'));
    let mut line = 1;
    let mut behind = 0;
    let mut taken = Vec::new();
    for (start, _) in text.match_indices(old).take(NAMED) {
        line += text.get(behind..start).map_or(0, newlines);
        taken.push(Lines {
            first: line,
            last: line + further,
        });
        line += breaks;
        behind = start + old.len();
    }
    taken
}

/// Returns the old and the new text of an edit with the line ends of the file, if all of these are `\r\n`. Texts that differ
/// only in line ends are returned as they are.
pub(super) fn with_line_ends<'e>(text: &str, edit: [&'e str; 2]) -> [Cow<'e, str>; 2] {
    let changed = edit.map(|text| text.replace("\r\n", "\n").replace('\n', "\r\n"));
    let returns = text.matches("\r\n").count();
    if returns > 0 && returns == newlines(text) && changed[0] != changed[1] {
        changed.map(Cow::Owned)
    } else {
        edit.map(Cow::Borrowed)
    }
}

/// What to do about a text that does not occur as often as was said.
pub(super) fn hint(text: &str, old: &str) -> String {
    let starts = starts(text, old);
    if !starts.is_empty() {
        return format!(
            "it begins in the line{}: give more of the text around the one that is meant, or set `count`",
            listed(&starts)
        );
    }
    let with_returns = old.replace("\r\n", "\n").replace('\n', "\r\n");
    if text.contains(&with_returns) {
        return r"there the lines end in `\r\n`: write them so in `old` and `new`".to_owned();
    }
    if text.contains(&old.replace("\r\n", "\n")) {
        return r"there the lines end in `\n` alone: write them so in `old` and `new`".to_owned();
    }
    match without_space(text, old) {
        Some(line) => {
            format!("the same text with other white space begins in line {line}: copy it exactly")
        }
        None => "read the file and copy the text exactly".to_owned(),
    }
}

/// The lines in which a text begins.
fn starts(text: &str, old: &str) -> Vec<usize> {
    let mut line = 1;
    let mut behind = 0;
    let mut starts = Vec::new();
    // One more than is shown, to tell whether there are more.
    for (start, _) in text.match_indices(old).take(SHOWN + 1) {
        line += text.get(behind..start).map_or(0, newlines);
        starts.push(line);
        behind = start;
    }
    starts.dedup();
    starts
}

fn listed(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(SHOWN).map(usize::to_string).collect();
    match shown.split_last() {
        Some((last, [])) => format!(" {last}"),
        Some((_, _)) if lines.len() > SHOWN => format!("s {} and others", shown.join(", ")),
        Some((last, others)) => format!("s {} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The line in which a text begins when white space is left out of both; in linear time, because a model chooses both.
fn without_space(text: &str, old: &str) -> Option<usize> {
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    let old = dense(old);
    if old.is_empty() {
        return None;
    }
    let mut left = dense(text).find(&old)?;
    let mut line = 1;
    for character in text.chars() {
        if character == '\n' {
            line += 1;
        } else if !character.is_whitespace() {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(character.len_utf8());
        }
    }
    Some(line)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::{hint, lines};

    #[test]
    fn the_lines_of_a_replacement_are_those_of_the_text_afterwards() {
        let taken = |text, old, new| -> Vec<(usize, usize)> {
            lines(text, old, new)
                .into_iter()
                .map(|lines| (lines.first, lines.last))
                .collect()
        };
        assert_eq!(taken("a\nb\na\n", "a", "x\ny"), [(1, 2), (4, 5)]);
        assert_eq!(taken("a\nb\nc\n", "b\n", "x\ny\n"), [(2, 3)]);
        assert_eq!(taken("a\nb\nc\n", "b\n", ""), [(2, 2)]);
        assert_eq!(taken("a\nb\nb", "\nb", ""), [(1, 1), (1, 1)]);
    }

    #[test]
    fn a_text_that_does_not_occur_is_told_apart_from_one_with_other_white_space() {
        assert_eq!(
            hint("fn main() {\n    run();\n}\n", "{\n\trun();"),
            "the same text with other white space begins in line 1: copy it exactly"
        );
        assert!(hint("a\r\nb\r\n", "a\nb").contains(r"end in `\r\n`"));
        assert!(hint("a\nb\n", "a\r\nb").contains(r"end in `\n` alone"));
        assert_eq!(hint("a", "b"), "read the file and copy the text exactly");
        assert_eq!(hint("a", " "), "read the file and copy the text exactly");
    }

    #[test]
    fn many_matches_name_the_first_ten_lines() {
        let text = "x\n".repeat(30);
        assert!(
            hint(&text, "x")
                .starts_with("it begins in the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and others:")
        );
        assert!(hint("x x", "x").starts_with("it begins in the line 1:"));
        assert!(hint("\nx", "x").starts_with("it begins in the line 2:"));
    }
}
