//! The sentence of a question: words of the author and values, which can hide nothing from the person who reads them.

use std::fmt;

/// The text of a question, as generated code writes it: words of the author, values that the author's code computed, and values
/// that may come from a model.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct QuestionText {
    pub(super) shown: String,
    /// The whole sentence, in which the length of each value marks its end.
    pub(super) exact: String,
    pub(super) is_cut: bool,
}

/// The longest value of a model in a question, in characters.
const VALUE: usize = 1_000;
/// The longest text that the author's code computed, in characters.
const COMPUTED: usize = 4_000;

impl QuestionText {
    /// Adds words of the author.
    pub fn text(&mut self, text: &str) {
        self.shown.extend(visible(text));
        self.exact.push_str(text);
    }

    /// Adds what the author's code computed.
    pub fn computed(&mut self, value: fmt::Arguments<'_>) {
        let value = self.cut(&value.to_string(), COMPUTED);
        self.shown.push_str(&value);
    }

    /// Adds a value of a model, which can end no quotation and hide nothing.
    ///
    /// A number, a boolean, and what has no more than two bytes in memory, such as an enum of units, cannot carry a text of the
    /// model, so these stand without quotation marks.
    #[inline]
    pub fn value<T: ?Sized>(&mut self, of: &T, value: fmt::Arguments<'_>) {
        self.value_of_size(size_of_val(of), value);
    }

    fn value_of_size(&mut self, size: usize, value: fmt::Arguments<'_>) {
        let value = self.cut(&value.to_string(), VALUE);
        if size <= 2 || is_plain(value.trim()) {
            self.shown.push_str(&value);
            return;
        }
        // A value that its author quotes already is quoted only once.
        let inside = value
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        self.shown.push('"');
        self.shown
            .push_str(&inside.unwrap_or(&value).replace('"', "'"));
        self.shown.push('"');
    }

    /// Adds the whole value to the exact text and returns what is shown of it.
    fn cut(&mut self, value: &str, limit: usize) -> String {
        // The length marks where the value ends, so that two values cannot be read as others.
        self.exact.extend([&value.len().to_string(), ":", value]);
        let letters: Vec<char> = visible(value).collect();
        let left_out = letters.len().saturating_sub(limit);
        if left_out == 0 {
            return letters.into_iter().collect();
        }
        self.is_cut = true;
        let (start, rest) = letters.split_at(limit / 2);
        let (_, end) = rest.split_at(left_out);
        let mut cut: String = start.iter().collect();
        cut.extend([" [", &left_out.to_string(), " characters left out] "]);
        cut.extend(end);
        cut
    }

    /// Creates the text of a sentence that was not written as a question.
    pub(crate) fn of_sentence(sentence: &str) -> Self {
        let mut text = Self::default();
        text.computed(format_args!("{sentence}"));
        text
    }
}

fn is_plain(value: &str) -> bool {
    let is_number = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
    matches!(value, "true" | "false")
        || value.chars().all(is_number) && value.parse::<f64>().is_ok()
}

/// Returns the characters of a text without those that move a cursor, reorder letters or are invisible.
fn visible(text: &str) -> impl Iterator<Item = char> {
    let letters = text
        .chars()
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter });
    letters.filter(|letter| !is_hidden(*letter))
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
