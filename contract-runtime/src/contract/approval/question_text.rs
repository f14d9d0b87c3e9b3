//! The text of a question: what it shows of values that may be a model's, and what tells it apart.

use std::fmt;

use super::{Exact, Question};

/// The text of a question, as generated code writes it: sentences of the author, and values that may be a model's.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct QuestionText {
    shown: String,
    exact: String,
    /// How many characters of values are shown already.
    values: usize,
}

/// The longest value in a question, in characters.
const VALUE: usize = 200;
/// The characters that its values share; behind that each has `LEAST`, so that long ones hide neither the words of the author
/// nor another value.
const VALUES: usize = 1_000;
const LEAST: usize = 40;
/// The longest sentence that a condition made itself, in characters.
const TEXT: usize = 2_000;

impl QuestionText {
    /// Adds words of the author.
    pub fn text(&mut self, text: &str) {
        self.shown.push_str(&cleaned(text, usize::MAX));
        self.exact.push_str(text);
    }

    /// Adds a value, which can end no quotation and hide nothing.
    pub fn value(&mut self, value: fmt::Arguments<'_>) {
        let value = value.to_string();
        // Its length tells where it ends.
        self.exact.extend([&value.len().to_string(), ":", &value]);
        let value = cleaned(&value, VALUE.min((VALUES - self.values).max(LEAST)));
        self.values = VALUES.min(self.values + value.chars().count());
        let plain = |letter: char| letter.is_alphanumeric() || "-_.,:/+%@#".contains(letter);
        if !value.is_empty() && value.chars().all(plain) {
            self.shown.push_str(&value);
            return;
        }
        // What its author quotes already is quoted once.
        let inside = value
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        self.shown.push('"');
        self.shown
            .push_str(&inside.unwrap_or(&value).replace('"', "'"));
        self.shown.push('"');
    }

    /// A sentence that no author wrote as a question.
    pub(crate) fn of_sentence(sentence: &str) -> Self {
        Self {
            shown: cleaned(sentence, TEXT),
            exact: sentence.to_owned(),
            values: 0,
        }
    }

    pub(crate) fn into_question(self, contract: String) -> Question {
        Question {
            contract,
            exact: Exact::of(&self.exact),
            text: self.shown,
        }
    }
}

/// A text without what moves a cursor, reorders letters or cannot be seen, and no longer than this.
pub(crate) fn cleaned(text: &str, limit: usize) -> String {
    let mut cleaned = String::new();
    let mut letters = text
        .chars()
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter });
    let letters = letters.by_ref().filter(|letter| !is_hidden(*letter));
    for (at, letter) in letters.enumerate() {
        if at == limit {
            cleaned.push('…');
            break;
        }
        cleaned.push(letter);
    }
    cleaned
}

/// Control characters, and those that format, join or reorder what stands around them (Unicode 16.0, general category
/// Cf, and the tags and selectors that are drawn as nothing).
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
