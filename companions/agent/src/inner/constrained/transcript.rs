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
    escape: Escape,
    /// The first half of a character that is written as two.
    half: Option<u32>,
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

#[derive(Clone, Copy, Debug, Default)]
enum Escape {
    #[default]
    None,
    Begun,
    Hex {
        digits: u32,
        code: u32,
    },
}

/// The properties whose texts are emitted.
const EMITTED: [&str; 2] = ["reasoning", "content"];

/// No key that matters is longer.
const KEY: usize = 16;

impl Transcript {
    /// Returns what a further piece of the reply adds.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for letter in piece.chars() {
            if self.text == Text::None {
                self.outside(letter, &mut out);
            } else {
                self.inside(letter, &mut out);
            }
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

    fn inside(&mut self, letter: char, out: &mut String) {
        match (self.escape, letter) {
            (Escape::None, '\\') => self.escape = Escape::Begun,
            (Escape::None, '"') => {
                self.end_half(out);
                self.text = Text::None;
            }
            (Escape::None, letter) => self.character(letter, out),
            (Escape::Begun, 'u') => self.escape = Escape::Hex { digits: 0, code: 0 },
            (Escape::Begun, letter) => {
                self.escape = Escape::None;
                let meant = match letter {
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                };
                self.character(meant, out);
            }
            (Escape::Hex { digits, code }, letter) => {
                let code = code * 16 + letter.to_digit(16).unwrap_or_default();
                if digits < 3 {
                    let digits = digits + 1;
                    self.escape = Escape::Hex { digits, code };
                } else {
                    self.escape = Escape::None;
                    self.code(code, out);
                }
            }
        }
    }

    /// A number of UTF-16 (RFC 8259, 2017, section 7).
    fn code(&mut self, code: u32, out: &mut String) {
        match (self.half.take(), code) {
            (Some(high), 0xdc00..=0xdfff) => {
                let both = 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00);
                self.put(
                    char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER),
                    out,
                );
            }
            (before, code) => {
                self.half = before;
                self.end_half(out);
                match code {
                    0xd800..=0xdbff => self.half = Some(code),
                    code => {
                        let letter = char::from_u32(code);
                        self.put(letter.unwrap_or(char::REPLACEMENT_CHARACTER), out);
                    }
                }
            }
        }
    }

    fn character(&mut self, letter: char, out: &mut String) {
        self.end_half(out);
        self.put(letter, out);
    }

    /// A half that stays alone is not a character.
    fn end_half(&mut self, out: &mut String) {
        if self.half.take().is_some() {
            self.put(char::REPLACEMENT_CHARACTER, out);
        }
    }

    fn put(&mut self, letter: char, out: &mut String) {
        match self.text {
            Text::Emitted => out.push(letter),
            Text::Key if self.key.len() < KEY => self.key.push(letter),
            _ => {}
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

    #[test]
    fn half_a_character_is_no_character() {
        let mut transcript = Transcript::default();
        let out = transcript.push(r#"{"content":"a\ud83db\ud83d\ud83e\udd80\udd80"}"#);
        assert_eq!(out, "a\u{fffd}b\u{fffd}\u{1f980}\u{fffd}");
    }
}
