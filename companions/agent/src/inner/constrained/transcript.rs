//! Extracts the reasoning and the answer from a streaming reply, without the JSON around them.

/// Follows a reply; elsewhere it is checked whether it is one.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// How many objects and lists are open.
    depth: usize,
    /// The key of the property of the reply that is being read.
    key: String,
    /// Behind the colon of that property.
    in_value: bool,
    text: Text,
    /// What of the open text is not decoded yet, as it is written.
    written: String,
    /// The letter before was a backslash that escapes this one.
    escaped: bool,
    /// How often in a row it could not be decoded.
    failed: usize,
    /// A text has been emitted, so a line break separates it from the next.
    emitted: bool,
}

/// What the text that is open is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Text {
    #[default]
    None,
    Key,
    Emitted,
    Other,
}

/// The properties whose texts are emitted.
const EMITTED: [&str; 2] = ["reasoning", "content"];

/// The longest character is written with twelve letters, as two halves of UTF-16 (RFC 8259, 2017, section 7).
const LETTERS: usize = 12;

impl Transcript {
    /// Returns what a further piece of the reply adds.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for letter in piece.chars() {
            match (self.text, letter) {
                (Text::None, _) => self.outside(letter, &mut out),
                (_, '"') if !self.escaped => {
                    self.decode(&mut out);
                    self.written.clear();
                    self.text = Text::None;
                }
                (text, _) => {
                    self.escaped = letter == '\\' && !self.escaped;
                    if text != Text::Other {
                        self.written.push(letter);
                    }
                }
            }
        }
        if self.text == Text::Emitted {
            self.decode(&mut out);
        }
        out
    }

    fn outside(&mut self, letter: char, out: &mut String) {
        match letter {
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            ':' if self.depth == 1 => self.in_value = true,
            ',' if self.depth == 1 => self.in_value = false,
            '"' if self.depth == 1 && !self.in_value => {
                self.key.clear();
                self.text = Text::Key;
            }
            '"' if self.depth == 1 && EMITTED.contains(&self.key.as_str()) => {
                if std::mem::replace(&mut self.emitted, true) {
                    out.push('\n');
                }
                self.text = Text::Emitted;
            }
            '"' => self.text = Text::Other,
            _ => {}
        }
    }

    /// Decodes what is written so far. It may end within a character, which the next pieces complete.
    fn decode(&mut self, out: &mut String) {
        let decoded = serde_json::from_str::<String>(&format!("\"{}\"", self.written));
        match (self.text, decoded) {
            (Text::Key, decoded) => self.key = decoded.unwrap_or_default(),
            (Text::Emitted, Ok(text)) => {
                out.push_str(&text);
                self.written.clear();
                self.failed = 0;
            }
            (Text::Emitted, Err(_)) if self.failed < LETTERS => self.failed += 1,
            _ => self.text = Text::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::Transcript;

    /// As JSON, with every character as a number of UTF-16 where that is asked for.
    fn write_json(value: &Value, numbers: bool) -> String {
        let text = value.to_string();
        if !numbers {
            return text;
        }
        let mut out = String::new();
        for letter in text.chars() {
            if letter.is_ascii() {
                out.push(letter);
            } else {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn the_texts_of_a_reply_are_told_whole_however_it_comes(
            reasoning in any::<String>(),
            content in any::<String>(),
            other in any::<String>(),
            numbers in any::<bool>(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        ) {
            // What is not at the top, and what has another name, is not told.
            let reply = json!({
                "reasoning": reasoning,
                "type": other,
                "arguments": {"content": other, "deep": [{"reasoning": other}]},
                "content": content,
            });
            let text = write_json(&reply, numbers);
            let mut places: Vec<usize> = cuts
                .iter()
                .map(|cut| cut.index(text.len() + 1))
                .filter(|place| text.is_char_boundary(*place))
                .collect();
            places.extend([0, text.len()]);
            places.sort_unstable();
            let mut transcript = Transcript::default();
            let out: String = places
                .windows(2)
                .map(|pair| transcript.push(&text[pair[0]..pair[1]]))
                .collect();
            prop_assert_eq!(out, format!("{reasoning}\n{content}"));
        }

        #[test]
        fn what_is_no_reply_is_read_without_an_end_too_soon(text in any::<String>()) {
            let _ = Transcript::default().push(&text);
        }
    }

    /// No reader of JSON takes such a reply.
    #[test]
    fn a_text_with_half_a_character_is_not_told() {
        let mut transcript = Transcript::default();
        let reply = r#"{"reasoning":"so","content":"a\ud83db and more","more":""}"#;
        let out: String = reply
            .split("")
            .map(|piece| transcript.push(piece))
            .collect();
        assert_eq!(out, "so\na");
    }
}
