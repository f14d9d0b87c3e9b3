//! Builds an error message in a `const` context.

/// As many bytes as a sentence may have; what is longer is cut.
const MOST: usize = 600;

/// A text of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    bytes: [u8; MOST],
    length: usize,
    /// It has been cut, and nothing goes after the dots.
    cut: bool,
}

impl Message {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; MOST],
            length: 0,
            cut: false,
        }
    }

    /// With a text after what is there; line breaks become spaces.
    pub(super) const fn add(self, text: &str) -> Self {
        // Two bytes are kept free for the dots.
        let mut room = (MOST - 2).saturating_sub(self.length);
        if text.len() <= room || self.cut {
            return self.raw(text.as_bytes());
        }
        while !text.is_char_boundary(room) {
            room -= 1;
        }
        let mut cut = self.raw(text.as_bytes().split_at(room).0).raw(b"..");
        cut.cut = true;
        cut
    }

    /// With a text between backticks.
    pub(super) const fn code(self, text: &str) -> Self {
        self.add("`").add(text).add("`")
    }

    pub(super) const fn number(self, number: i128) -> Self {
        let mut digits = [0; 40];
        let mut rest = number.unsigned_abs();
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let sign = if number < 0 { self.add("-") } else { self };
        sign.raw(digits.split_at(at).1)
    }

    const fn raw(mut self, text: &[u8]) -> Self {
        let mut rest = text;
        while let Some((byte, others)) = rest.split_first() {
            if self.length < MOST && !self.cut {
                self.bytes[self.length] = match *byte {
                    b'\n' | b'\r' | b'\t' => b' ',
                    byte => byte,
                };
                self.length += 1;
            }
            rest = others;
        }
        self
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
            assert!(text.starts_with("`b c``") && text.ends_with(".."), "{text}");
        }
    }
}
