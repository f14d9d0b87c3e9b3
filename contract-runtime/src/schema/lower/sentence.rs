//! Renders conditions as sentences.

use std::borrow::Cow;

use super::nnf::Normal;
use super::{Heading, PublishedCondition, Subject, readable};
use crate::contract::condition::{Condition, ConditionKind, Names};

/// What is said of a tool that always asks.
pub(crate) const EVERY_CALL: &str = "every call";

/// Longer predicates and messages are cut.
const LONGEST: usize = 200;

/// A condition in one line, and the heading below which a description says it, if there is one.
///
/// A message is what is said when a condition fails: it is quoted, and never stands as a demand. A demand that can be read
/// says more than its message. Of a condition that only the program can judge there is nothing to say but what its author
/// says of it. `rest` is what the schema does not say of it; `None` if nothing of it can be read as data.
pub(super) fn of(
    condition: &Condition,
    rest: Option<&[Normal]>,
    subjects: &[Subject],
) -> (Option<Heading>, String) {
    if condition.asks() {
        return of_question(condition, rest, subjects);
    }
    let demanded = match condition.kind() {
        ConditionKind::Pre | ConditionKind::Given => Heading::Requires,
        _ => Heading::Ensures,
    };
    if let Some(demand) = condition.demand() {
        return (Some(demanded), cut(&line(demand)));
    }
    let predicate = || of_predicate(condition);
    if condition.is_named() {
        return (Some(demanded), predicate());
    }
    let demands = demands(condition, rest, subjects);
    let is_readable = rest.is_some() && demands.iter().all(Option::is_some);
    match of_message(condition) {
        _ if is_readable => {}
        _ if demanded == Heading::Ensures => return (None, predicate()),
        Some(message) => return (Some(Heading::PossibleRefusals), quoted(&message)),
        None => {}
    }
    let demands: Vec<_> = demands.into_iter().flatten().collect();
    if demands.is_empty() {
        return (None, predicate());
    }
    (Some(demanded), demands.join(", and "))
}

/// When a person is asked.
fn of_question(
    condition: &Condition,
    rest: Option<&[Normal]>,
    subjects: &[Subject],
) -> (Option<Heading>, String) {
    let read: Option<Vec<String>> = demands(condition, rest, subjects).into_iter().collect();
    let demand = condition.demand().map(|demand| cut(&line(demand)));
    let read = read.filter(|all| !all.is_empty());
    let sentence = match demand.or(read.map(|all| all.join(", and "))) {
        Some(demand) => format!("unless {demand}"),
        None => match of_message(condition) {
            Some(message) => quoted(&message),
            None => return (None, of_predicate(condition)),
        },
    };
    (Some(Heading::Approval), sentence)
}

/// Each clause as a demand, if it can be read.
fn demands(
    condition: &Condition,
    rest: Option<&[Normal]>,
    subjects: &[Subject],
) -> Vec<Option<String>> {
    let clauses = rest.unwrap_or_default().iter();
    let demands = clauses.map(|clause| readable::demand(clause, subjects, condition.result()));
    demands.map(|demand| Some(cut(&line(&demand?)))).collect()
}

/// Returns what a precondition demands, for use after the name of its tool: `` requires `end > start` ``. It is empty if the
/// precondition cannot be put into words.
pub(crate) fn requirement(condition: &Condition, subjects: &[Subject]) -> String {
    if let Some(demand) = condition.demand() {
        return format!("requires: {}", cut(&line(demand)));
    }
    if condition.is_named() {
        return format!("requires {}", of_predicate(condition));
    }
    let rest = condition.expression().map(|all| Normal::of(all).clauses());
    let demands = demands(condition, rest.as_deref(), subjects);
    let demands: Option<Vec<_>> = demands.into_iter().collect();
    match demands.as_deref() {
        None | Some([]) => String::new(),
        Some([only])
            if only.starts_with('`') && only.matches('`').count() == 2 && only.ends_with('`') =>
        {
            format!("requires {only}")
        }
        Some(several) => format!("requires that {}", several.join(", and ")),
    }
}

/// The message, with the model's names of the arguments.
#[must_use]
pub fn of_message(condition: &Condition) -> Option<String> {
    let text = condition.message()?;
    let renamed = condition.renamed();
    let is_known = |name: &str| {
        condition.kind() == ConditionKind::Post
            || condition.parameters().contains(&name)
            || renamed.iter().any(|(own, _)| *own == name)
    };
    Some(message(text, renamed, is_known))
}

/// Returns the message in quotation marks.
pub(crate) fn quoted(message: &str) -> String {
    format!("\"{}\"", message.replace('"', "'"))
}

/// The predicate as typed, and what the model calls the arguments that it calls otherwise.
#[must_use]
pub fn of_predicate(condition: &Condition) -> String {
    let mut text = code(condition.predicate());
    for (index, (own, name)) in condition.renamed().iter().enumerate() {
        text.push_str(if index == 0 { " where " } else { ", " });
        text.extend(["`", own, "` is the argument `", name, "`"]);
    }
    text
}

/// The author's description, and what the schema does not say of the conditions.
pub(crate) fn describe(author: &str, conditions: &[PublishedCondition], confirms: bool) -> String {
    let said = conditions
        .iter()
        .filter_map(|one| Some((one.heading()?, one.sentence())));
    let always = confirms.then_some((Heading::Approval, EVERY_CALL));
    let said = said.chain(always);
    below_headings(author, &said)
}

/// Joins the author's description and the sentences below their headings.
pub fn below_headings<'s>(
    author: &str,
    said: &(impl Iterator<Item = (Heading, &'s str)> + Clone),
) -> String {
    let mut text = author.trim_end().to_owned();
    for heading in Heading::ALL {
        let mut own = said.clone().filter(|(of, _)| *of == heading).peekable();
        if own.peek().is_none() {
            continue;
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&heading.to_string());
        text.push(':');
        for (_, sentence) in own {
            text.push_str("\n- ");
            text.push_str(sentence);
        }
    }
    text
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

/// A message on one line, with the name of each parameter where its value would stand; ` ({value})` is left out. What the
/// model does not know by a name, such as an expression, is three dots.
pub(crate) fn message(text: &str, renamed: Names, is_known: impl Fn(&str) -> bool) -> String {
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
            } else if name.bytes().all(|byte| byte.is_ascii_digit()) || !is_known(name) {
                plain.push_str("...");
                behind
            } else {
                let known = renamed.iter().find(|(own, _)| *own == name);
                let name = known.map_or(name, |(_, name)| name);
                // Between backticks of the author it needs none.
                let inside = plain.matches('`').count() % 2 == 1 && behind.contains('`');
                let mark = if inside { "" } else { "`" };
                plain.extend([mark, name, mark]);
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

/// Returns the name in `{name:format}`, and the text after the placeholder.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let (inner, behind) = text.strip_prefix('{')?.split_once('}')?;
    let name = inner.split_once(':').map_or(inner, |(name, _)| name).trim();
    Some((name.strip_prefix("r#").unwrap_or(name), behind))
}

/// Without what would end the line or hide in it: a space for each run of blanks that holds such a character.
fn line(text: &str) -> Cow<'_, str> {
    let breaks = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    let text = text.trim();
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut blanks = String::new();
    for letter in text.chars() {
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
    Cow::Owned(line)
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}
