//! The texts in a reply while it comes: its reasoning and its answer, without the JSON around them.

/// Reads along a reply; what is no reply is found out elsewhere.
#[derive(Debug, Default)]
pub(super) struct Spoken {
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
    /// A text has been told already, from which the next one is to be kept apart.
    told: bool,
}

/// What the text that is open is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Text {
    #[default]
    None,
    Key,
    Told,
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

/// The properties whose texts are told.
const TOLD: [&str; 2] = ["reasoning", "content"];

/// No key that matters is longer.
const KEY: usize = 16;

impl Spoken {
    /// What a further piece of the reply says.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut said = String::new();
        for letter in piece.chars() {
            if self.text == Text::None {
                self.outside(letter, &mut said);
            } else {
                self.inside(letter, &mut said);
            }
        }
        said
    }

    fn outside(&mut self, letter: char, said: &mut String) {
        match letter {
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            ':' if self.depth == 1 => self.in_value = true,
            ',' if self.depth == 1 => self.in_value = false,
            '"' if self.depth == 1 && !self.in_value => {
                self.key.clear();
                self.text = Text::Key;
            }
            '"' if self.depth == 1 && TOLD.contains(&self.key.as_str()) => {
                if std::mem::replace(&mut self.told, true) {
                    said.push('\n');
                }
                self.text = Text::Told;
            }
            '"' => self.text = Text::Other,
            _ => {}
        }
    }

    fn inside(&mut self, letter: char, said: &mut String) {
        match (self.escape, letter) {
            (Escape::None, '\\') => self.escape = Escape::Begun,
            (Escape::None, '"') => {
                self.whole(said);
                self.text = Text::None;
            }
            (Escape::None, letter) => self.character(letter, said),
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
                self.character(meant, said);
            }
            (Escape::Hex { digits, code }, letter) => {
                let code = code * 16 + letter.to_digit(16).unwrap_or_default();
                if digits < 3 {
                    let digits = digits + 1;
                    self.escape = Escape::Hex { digits, code };
                } else {
                    self.escape = Escape::None;
                    self.code(code, said);
                }
            }
        }
    }

    /// A number of UTF-16 (RFC 8259, 2017, section 7).
    fn code(&mut self, code: u32, said: &mut String) {
        match (self.half.take(), code) {
            (Some(high), 0xdc00..=0xdfff) => {
                let both = 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00);
                self.put(
                    char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER),
                    said,
                );
            }
            (before, code) => {
                self.half = before;
                self.whole(said);
                match code {
                    0xd800..=0xdbff => self.half = Some(code),
                    code => {
                        let letter = char::from_u32(code);
                        self.put(letter.unwrap_or(char::REPLACEMENT_CHARACTER), said);
                    }
                }
            }
        }
    }

    fn character(&mut self, letter: char, said: &mut String) {
        self.whole(said);
        self.put(letter, said);
    }

    /// A half that stays alone is no character.
    fn whole(&mut self, said: &mut String) {
        if self.half.take().is_some() {
            self.put(char::REPLACEMENT_CHARACTER, said);
        }
    }

    fn put(&mut self, letter: char, said: &mut String) {
        match self.text {
            Text::Told => said.push(letter),
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

    use super::Spoken;

    /// As JSON, with every character as a number of UTF-16 where that is asked for.
    fn written(value: &Value, numbers: bool) -> String {
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
            let text = written(&reply, numbers);
            let mut places: Vec<usize> = cuts
                .iter()
                .map(|cut| cut.index(text.len() + 1))
                .filter(|place| text.is_char_boundary(*place))
                .collect();
            places.extend([0, text.len()]);
            places.sort_unstable();
            let mut spoken = Spoken::default();
            let said: String = places
                .windows(2)
                .map(|pair| spoken.push(&text[pair[0]..pair[1]]))
                .collect();
            prop_assert_eq!(said, format!("{reasoning}\n{content}"));
        }

        #[test]
        fn what_is_no_reply_is_read_without_an_end_too_soon(text in any::<String>()) {
            let _ = Spoken::default().push(&text);
        }
    }

    #[test]
    fn half_a_character_is_no_character() {
        let mut spoken = Spoken::default();
        let said = spoken.push(r#"{"content":"a\ud83db\ud83d\ud83e\udd80\udd80"}"#);
        assert_eq!(said, "a\u{fffd}b\u{fffd}\u{1f980}\u{fffd}");
    }
}
