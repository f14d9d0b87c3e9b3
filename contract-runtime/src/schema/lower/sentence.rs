//! Conditions in words.

use super::{Lowering, PublishedCondition};
use crate::contract::condition::{Condition, ConditionKind, Names};

/// Longer predicates and messages are cut.
const LONGEST: usize = 200;

/// A condition in one line: what a model can read it as.
///
/// A predicate that is portable speaks of arguments alone and says more than any message; of the others the message is
/// what its author wrote for a reader.
pub(super) fn sentence(condition: &Condition) -> String {
    let portable = condition
        .expression()
        .is_some_and(|expression| expression.opaque().is_none());
    match of_message(condition) {
        Some(message) if portable => format!("{} ({message})", of_predicate(condition)),
        Some(message) => message,
        None => of_predicate(condition),
    }
}

/// The message, with the model's names of the arguments.
pub(crate) fn of_message(condition: &Condition) -> Option<String> {
    let text = condition.message()?;
    Some(message(text, condition.renamed()))
}

/// The predicate as typed, and what the model calls the arguments that it calls otherwise.
pub(crate) fn of_predicate(condition: &Condition) -> String {
    let mut text = code(condition.predicate());
    for (index, (own, name)) in condition.renamed().iter().enumerate() {
        text.push_str(if index == 0 { " where " } else { ", " });
        text.extend(["`", own, "` is the argument `", name, "`"]);
    }
    text
}

/// The author's description, and what the schema does not say of the conditions.
pub(crate) fn describe(author: &str, conditions: &[PublishedCondition]) -> String {
    let mut text = author.trim_end().to_owned();
    list(&mut text, "Requires:", conditions, |one| {
        one.condition().kind() == ConditionKind::Pre && one.lowering() != Lowering::Exact
    });
    list(&mut text, "Ensures:", conditions, |one| {
        one.condition().kind() == ConditionKind::Post
    });
    text
}

fn list(
    text: &mut String,
    heading: &str,
    conditions: &[PublishedCondition],
    belongs: impl Fn(&PublishedCondition) -> bool,
) {
    let mut sentences = conditions
        .iter()
        .filter(|one| belongs(one))
        .map(PublishedCondition::sentence)
        .peekable();
    if sentences.peek().is_none() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(heading);
    for sentence in sentences {
        text.push_str("\n- ");
        text.push_str(sentence);
    }
}

/// Rust as typed, on one line, between as many backticks as it takes.
pub(crate) fn code(source: &str) -> String {
    let source = cut(&line(source));
    if !source.contains('`') {
        return format!("`{source}`");
    }
    let longest = source.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default() + 1);
    format!("{fence} {source} {fence}")
}

/// A message on one line, with the name of each parameter where its value would stand; ` ({value})` is left out.
pub(crate) fn message(text: &str, renamed: Names) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let doubled = from.starts_with("{{") || from.starts_with("}}");
        rest = if let (false, Some((name, behind))) = (doubled, placeholder(from)) {
            if let (Some(length), Some(behind)) = (
                plain.strip_suffix(" (").map(str::len),
                behind.strip_prefix(')'),
            ) {
                plain.truncate(length);
                behind
            } else {
                let known = renamed.iter().find(|(own, _)| *own == name);
                plain.extend(["`", known.map_or(name, |(_, name)| name), "`"]);
                behind
            }
        } else {
            let (brace, behind) = from.split_at(1);
            plain.push_str(brace);
            behind.get(usize::from(doubled)..).unwrap_or_default()
        };
    }
    plain.push_str(rest);
    cut(&line(&plain))
}

/// The name in `{name:format}`, and what stands behind it.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let (inner, behind) = text.strip_prefix('{')?.split_once('}')?;
    let name = inner.split_once(':').map_or(inner, |(name, _)| name).trim();
    Some((name.strip_prefix("r#").unwrap_or(name), behind))
}

/// Without what would end the line or hide in it: a space for each run of blanks that holds such a character.
fn line(text: &str) -> String {
    let breaks = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    let mut line = String::with_capacity(text.len());
    let mut blanks = String::new();
    for letter in text.trim().chars() {
        if letter.is_whitespace() || breaks(letter) {
            blanks.push(letter);
            continue;
        }
        line.push_str(if blanks.contains(breaks) {
            " "
        } else {
            &blanks
        });
        blanks.clear();
        line.push(letter);
    }
    line
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}
