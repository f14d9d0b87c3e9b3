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
    /// The type of this parameter took only a part of its value.
    Tail(usize),
}

impl Unsure {
    /// What is wrong, of a text that has already been put right: a type that refuses what its schema admits.
    #[cold]
    pub(crate) fn refuse(self, inputs: &Inputs) -> Ended {
        let (index, error) = match self {
            Self::Value(index, error) => (index, Some(error)),
            Self::Tail(index) => (index, None),
            Self::Text => return Ended::unread(),
        };
        let Some(input) = inputs.parameters.get(index) else {
            return Ended::unread();
        };
        // The text of a type's own error may repeat the value.
        let message = error
            .filter(|_| !input.secret)
            .map(|error| without_place(&error.to_string()));
        let pointer = format!("/{}", input.name);
        Ended::Invalid(Box::new(rejected(
            &pointer,
            "a value its type accepts".to_owned(),
            message.as_deref(),
        )))
    }
}

/// What serde says of a value, without a place that counts from somewhere inside the text.
fn without_place(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or_default().to_owned()
}

/// Reads an object's members into the slots of the same names, and returns how many there were.
pub(crate) fn fill<'c>(
    text: &'c str,
    inputs: &[Input],
    slots: &mut [&mut dyn Argument<'c>],
) -> Result<usize, Unsure> {
    let bytes = text.as_bytes();
    let mut at = after(bytes, 0, b'{')?;
    let mut filled = 0;
    at = behind_space(bytes, at);
    if bytes.get(at) == Some(&b'}') {
        return end(bytes, at + 1).map(|()| filled);
    }
    loop {
        let start = after(bytes, at, b'"')?;
        // Most callers keep the order of the schema.
        let index = match inputs.get(filled) {
            Some(next) if is_key(bytes, start, next.name.as_bytes()) => {
                at = start + next.name.len() + 1;
                filled
            }
            _ => {
                let (name, behind) = key(text, start)?;
                at = behind;
                position(inputs, &name)?
            }
        };
        at = after(bytes, at, b':')?;
        at = behind_space(bytes, at);
        let slot = slots.get_mut(index).ok_or(Unsure::Text)?;
        let value = text.get(at..).ok_or(Unsure::Text)?;
        at += slot
            .read(value)
            .map_err(|error| Unsure::Value(index, error))?
            .ok_or(Unsure::Text)?;
        filled += 1;
        at = behind_space(bytes, at);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b'}') => return end(bytes, at + 1).map(|()| filled),
            _ => return Err(Unsure::Tail(index)),
        }
    }
}

/// Whether the key that begins here is this name, as it stands; names have no escapes.
#[inline]
fn is_key(bytes: &[u8], start: usize, name: &[u8]) -> bool {
    bytes.get(start + name.len()) == Some(&b'"')
        && bytes.get(start..start + name.len()) == Some(name)
}

fn position(inputs: &[Input], name: &str) -> Result<usize, Unsure> {
    let found = inputs.iter().position(|input| input.name == name);
    found.ok_or(Unsure::Text)
}

/// The place behind the white space that stands here (RFC 8259, section 2).
#[inline]
fn behind_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The place behind this byte, which must come next.
#[inline]
fn after(bytes: &[u8], at: usize, byte: u8) -> Result<usize, Unsure> {
    // Compact text has no white space.
    if bytes.get(at) == Some(&byte) {
        return Ok(at + 1);
    }
    let at = behind_space(bytes, at);
    if bytes.get(at) == Some(&byte) {
        return Ok(at + 1);
    }
    Err(Unsure::Text)
}

/// The key that begins here, behind its quote, and the place behind it.
#[inline(never)]
fn key(text: &str, start: usize) -> Result<(Cow<'_, str>, usize), Unsure> {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let length = rest.iter().position(special).ok_or(Unsure::Text)?;
    match rest.get(length) {
        Some(b'"') => {
            let key = text.get(start..start + length).ok_or(Unsure::Text)?;
            Ok((Cow::Borrowed(key), start + length + 1))
        }
        Some(b'\\') => escaped_key(text, start - 1),
        _ => Err(Unsure::Text),
    }
}

#[cold]
fn escaped_key(text: &str, quote: usize) -> Result<(Cow<'_, str>, usize), Unsure> {
    let rest = text.get(quote..).ok_or(Unsure::Text)?;
    let mut keys = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let key = keys.next().and_then(Result::ok).ok_or(Unsure::Text)?;
    Ok((Cow::Owned(key), quote + keys.byte_offset()))
}

fn end(bytes: &[u8], at: usize) -> Result<(), Unsure> {
    if behind_space(bytes, at) == bytes.len() {
        return Ok(());
    }
    Err(Unsure::Text)
}
