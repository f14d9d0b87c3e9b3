//! Builds an error message in a `const` context.

/// As many bytes as a sentence may have; what is longer is cut.
const MOST: usize = 600;

/// A text of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    bytes: [u8; MOST],
    length: usize,
}

impl Message {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; MOST],
            length: 0,
        }
    }

    /// With a text after what is there, as far as there is room; line breaks become spaces.
    pub(super) const fn add(mut self, text: &str) -> Self {
        let mut end = MOST - self.length;
        while end < text.len() && !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut rest = text.as_bytes();
        while let (1.., Some((byte, others))) = (end, rest.split_first()) {
            self.bytes[self.length] = match *byte {
                b'\n' | b'\r' | b'\t' => b' ',
                byte => byte,
            };
            self.length += 1;
            end -= 1;
            rest = others;
        }
        self
    }

    /// With a text between backticks.
    pub(super) const fn code(self, text: &str) -> Self {
        self.add("`").add(text).add("`")
    }

    pub(super) const fn number(self, number: i128) -> Self {
        const DIGITS: &str = "0123456789";
        let (rest, digit) = (number / 10, (number % 10).unsigned_abs() as usize);
        let before = match (rest, number) {
            (0, ..0) => self.add("-"),
            (0, _) => self,
            _ => self.number(rest),
        };
        before.add(DIGITS.split_at(digit).1.split_at(1).0)
    }

    pub(crate) const fn text(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, -7, 10, i128::MAX, i128::MIN] {
            let message = Message::new().add("a ").number(number);
            assert_eq!(message.text(), format!("a {number}"));
        }
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        for start in 0..4 {
            let long = format!("{}{}", "a".repeat(start), "ä€😀".repeat(200));
            let message = Message::new().code("b\nc").code(&long).add("; more");
            let text = message.text();
            assert!(
                text.starts_with("`b c``") && text.len() > MOST - 4,
                "{text}"
            );
        }
    }
}
