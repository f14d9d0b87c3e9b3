//! The fast path: one pass over the arguments into typed slots.
//!
//! It reads only what is plainly well-formed; anything else is `Unsure`, and the cold path judges the whole text with a
//! real parser. So it may refuse a legal text, but never accept an illegal one.

use std::borrow::Cow;

use super::arguments::rejected;
use super::inputs::{Input, Inputs};
use super::reply::Ended;
use super::slot::Argument;

/// The text is not plainly a legal set of arguments.
#[derive(Debug)]
pub(crate) enum Unsure {
    Text,
    /// The type of this parameter refused its value.
    Value(usize, serde_json::Error),
}

impl Unsure {
    /// What is wrong, of a text that has already been put right: a type that refuses what its schema admits.
    #[cold]
    pub(crate) fn refuse(self, inputs: &Inputs) -> Ended {
        let Self::Value(index, error) = self else {
            return Ended::unread();
        };
        let Some(input) = inputs.parameters.get(index) else {
            return Ended::unread();
        };
        // The text of a type's own error may repeat the value.
        let message = (!input.secret).then(|| error.to_string());
        let pointer = format!("/{}", input.name);
        Ended::Invalid(Box::new(rejected(
            &pointer,
            "a value its type accepts".to_owned(),
            message.as_deref(),
        )))
    }
}

/// Reads an object's members into the slots of the same names.
pub(crate) fn fill<'c>(
    text: &'c str,
    inputs: &[Input],
    slots: &mut [&mut dyn Argument<'c>],
) -> Result<(), Unsure> {
    let mut rest = Rest { text, at: 0 };
    rest.expect(b'{')?;
    if rest.skip_space() == Some(b'}') {
        rest.at += 1;
        return rest.end();
    }
    loop {
        let name = rest.key()?;
        rest.expect(b':')?;
        let index = inputs
            .iter()
            .position(|input| input.name == name)
            .ok_or(Unsure::Text)?;
        let slot = slots.get_mut(index).ok_or(Unsure::Text)?;
        if slot.is_read() {
            return Err(Unsure::Text);
        }
        let value = text.get(rest.at..).ok_or(Unsure::Text)?;
        rest.at += slot
            .read(value)
            .map_err(|error| Unsure::Value(index, error))?;
        match rest.skip_space() {
            Some(b',') => rest.at += 1,
            Some(b'}') => {
                rest.at += 1;
                return rest.end();
            }
            _ => return Err(Unsure::Text),
        }
    }
}

struct Rest<'c> {
    text: &'c str,
    at: usize,
}

impl<'c> Rest<'c> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// White space as in RFC 8259, section 2.
    fn skip_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn expect(&mut self, byte: u8) -> Result<(), Unsure> {
        if self.skip_space() != Some(byte) {
            return Err(Unsure::Text);
        }
        self.at += 1;
        Ok(())
    }

    fn key(&mut self) -> Result<Cow<'c, str>, Unsure> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek().ok_or(Unsure::Text)? {
                b'"' => break,
                b'\\' => return self.escaped_key(start - 1),
                0..0x20 => return Err(Unsure::Text),
                _ => self.at += 1,
            }
        }
        let key = self.text.get(start..self.at).ok_or(Unsure::Text)?;
        self.at += 1;
        Ok(Cow::Borrowed(key))
    }

    #[cold]
    fn escaped_key(&mut self, quote: usize) -> Result<Cow<'c, str>, Unsure> {
        let rest = self.text.get(quote..).ok_or(Unsure::Text)?;
        let mut keys = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let key = keys.next().and_then(Result::ok).ok_or(Unsure::Text)?;
        self.at = quote + keys.byte_offset();
        Ok(Cow::Owned(key))
    }

    fn end(&mut self) -> Result<(), Unsure> {
        self.skip_space().map_or(Ok(()), |_| Err(Unsure::Text))
    }
}
