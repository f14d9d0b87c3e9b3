//! The fast path of argument decoding: one pass over the arguments into typed slots.
//!
//! It reads only what is plainly well-formed; anything else is `FallBack`, and the cold path judges the whole text with a
//! real parser. So it may refuse a legal text, but never accept an illegal one.

use std::borrow::Cow;

use super::inputs::{Input, Inputs};
use super::reply::NoOutput;
use super::slot::Argument;
use crate::schema::arguments::{ErrorPosition, end_of_admitted, locate, rejected, with_formats};

/// The text is not plainly a legal set of arguments.
#[derive(Debug)]
pub(crate) enum FallBack {
    Text,
    /// The type of this parameter refused its value, which begins there.
    Value(usize, usize, serde_json::Error),
    /// The type of this parameter took only a part of its value.
    Tail(usize),
}

impl FallBack {
    /// What is wrong, of a text that has already been put right: a type that refuses what its schema admits.
    #[cold]
    pub(crate) fn refuse(self, text: &str, inputs: &Inputs) -> NoOutput {
        let (index, begins, error) = match self {
            Self::Value(index, begins, error) => (index, begins, Some(error)),
            Self::Tail(index) => (index, 0, None),
            Self::Text => return NoOutput::unread(),
        };
        let Some(input) = inputs.parameters.get(index) else {
            return NoOutput::unread();
        };
        // The text of a type's own error may repeat the value, and a key is a part of it.
        let error = error.filter(|_| !input.secret);
        let found = error.as_ref().and_then(|error| {
            let value = text.get(begins..)?;
            locate(value, error.line(), error.column())
        });
        let (below, is_key) =
            found.map_or_else(Default::default, |found| (found.pointer, found.is_key));
        let message = error.map(|error| without_place(&error.to_string()));
        let place = ErrorPosition {
            pointer: format!("/{}{below}", input.name),
            is_key,
        };
        let refusal = rejected(place, message.as_deref());
        NoOutput::Invalid(Box::new(with_formats(text, &inputs.schema, refusal)))
    }
}

/// What serde says of a value, without a place that counts from somewhere inside the text.
fn without_place(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or_default().to_owned()
}

/// Whether a text has been judged by the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    Before,
    /// Each argument just before its type reads it, where that type accepts too much.
    OnTheWay,
}

/// Reads an object's members into the slots of the same names, and returns how many there were.
pub(crate) fn fill<'c>(
    text: &'c str,
    inputs: &Inputs,
    slots: &mut [&mut dyn Argument<'c>],
    judged: Judged,
) -> Result<usize, FallBack> {
    let rules = inputs.schema.rules();
    let inputs = inputs.parameters.as_slice();
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
        let slot = slots.get_mut(index).ok_or(FallBack::Text)?;
        let value = text.get(at..).ok_or(FallBack::Text)?;
        let input = inputs.get(index).ok_or(FallBack::Text)?;
        let admitted = if input.is_exact || judged == Judged::Before {
            None
        } else {
            let end = |rule| end_of_admitted(text, at, rules, rule);
            Some(input.rule.and_then(end).ok_or(FallBack::Text)?)
        };
        at += slot
            .read(value)
            .map_err(|error| FallBack::Value(index, at, error))?
            .ok_or(FallBack::Text)?;
        if admitted.is_some_and(|end| end != at) {
            return Err(FallBack::Text);
        }
        filled += 1;
        at = behind_space(bytes, at);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b'}') => return end(bytes, at + 1).map(|()| filled),
            _ => return Err(FallBack::Tail(index)),
        }
    }
}

/// Whether the key that begins here is this name, as it stands; names have no escapes.
#[inline]
fn is_key(bytes: &[u8], start: usize, name: &[u8]) -> bool {
    bytes.get(start + name.len()) == Some(&b'"')
        && bytes.get(start..start + name.len()) == Some(name)
}

fn position(inputs: &[Input], name: &str) -> Result<usize, FallBack> {
    let found = inputs.iter().position(|input| input.name == name);
    found.ok_or(FallBack::Text)
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
fn after(bytes: &[u8], at: usize, byte: u8) -> Result<usize, FallBack> {
    // Compact text has no white space.
    if bytes.get(at) == Some(&byte) {
        return Ok(at + 1);
    }
    let at = behind_space(bytes, at);
    if bytes.get(at) == Some(&byte) {
        return Ok(at + 1);
    }
    Err(FallBack::Text)
}

/// The key that begins here, behind its quote, and the place behind it.
#[inline(never)]
fn key(text: &str, start: usize) -> Result<(Cow<'_, str>, usize), FallBack> {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let length = rest.iter().position(special).ok_or(FallBack::Text)?;
    match rest.get(length) {
        Some(b'"') => {
            let key = text.get(start..start + length).ok_or(FallBack::Text)?;
            Ok((Cow::Borrowed(key), start + length + 1))
        }
        Some(b'\\') => escaped_key(text, start - 1),
        _ => Err(FallBack::Text),
    }
}

#[cold]
fn escaped_key(text: &str, quote: usize) -> Result<(Cow<'_, str>, usize), FallBack> {
    let rest = text.get(quote..).ok_or(FallBack::Text)?;
    let mut keys = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let key = keys.next().and_then(Result::ok).ok_or(FallBack::Text)?;
    Ok((Cow::Owned(key), quote + keys.byte_offset()))
}

fn end(bytes: &[u8], at: usize) -> Result<(), FallBack> {
    if behind_space(bytes, at) == bytes.len() {
        return Ok(());
    }
    Err(FallBack::Text)
}
