//! Encodes results as text: a string as it is, everything else as compact JSON.
//!
//! `serde_json` writes the text. Its [`Formatter`] hooks see what the text alone does not say: whether the whole result is one
//! string, whether a `null` was written (NaN and the infinities become one), and whether a type ignored an error of the serializer.

mod non_finite;

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use super::content::Content;
use super::failure::FailureKind;
use super::outcome::OutputKind;
use super::reply::Reply;

/// The initial capacity of a result in bytes, so that most are written without growing.
const FIRST_ALLOCATION: usize = 128;

pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Reply {
    let mut text = Vec::with_capacity(FIRST_ALLOCATION);
    let mut layout = Layout::default();
    let written = value.serialize(&mut Serializer::with_formatter(&mut text, &mut layout));
    finish(written, text, &layout, || non_finite::find(value))
}

fn finish(
    written: serde_json::Result<()>,
    text: Vec<u8>,
    layout: &Layout,
    non_finite: impl FnOnce() -> Option<String>,
) -> Reply {
    if let Err(error) = written {
        return Err(unwritable(&error.to_string()));
    }
    if layout.wrote_null
        && let Some(pointer) = non_finite()
    {
        return Err(not_finite(&pointer));
    }
    if layout.open > 0 {
        return Err(unwritable(
            "a part of it could not be written, and its `Serialize` ignored the error",
        ));
    }
    let text = String::from_utf8(text).map_err(|error| unwritable(&error.to_string()))?;
    let kind = if layout.is_text {
        OutputKind::Text
    } else {
        OutputKind::Json
    };
    Ok(Content::new(text, kind))
}

fn not_finite(pointer: &str) -> FailureKind {
    let what = "a number that JSON cannot carry (NaN or an infinity)";
    FailureKind::Unwritable(if pointer.is_empty() {
        format!("the result is {what}")
    } else {
        format!("the result holds {what} at `{pointer}`")
    })
}

fn unwritable(why: &str) -> FailureKind {
    FailureKind::Unwritable(format!("the result cannot be written as JSON: {why}"))
}

/// Compact JSON, except that a string which is the whole result has neither quotes nor escapes.
#[derive(Default)]
struct Layout {
    /// How many lists, objects, items, keys and values have begun and not ended. An error that a type ignores leaves some open
    /// for ever, as does a key without a value or a value without a key.
    open: usize,
    awaits_value: bool,
    is_text: bool,
    wrote_null: bool,
}

macro_rules! parts {
    ($($begin:ident($($first:ident)?) $end:ident)*) => {$(
        fn $begin<W: Write + ?Sized>(&mut self, to: &mut W $(, $first: bool)?) -> Result<()> {
            self.open += 1;
            CompactFormatter.$begin(to $(, $first)?)
        }

        fn $end<W: Write + ?Sized>(&mut self, to: &mut W) -> Result<()> {
            self.open -= 1;
            CompactFormatter.$end(to)
        }
    )*};
}

impl Formatter for &mut Layout {
    parts! {
        begin_array() end_array
        begin_array_value(first) end_array_value
    }

    fn begin_object<W: Write + ?Sized>(&mut self, to: &mut W) -> Result<()> {
        self.open += 1;
        to.write_all(b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, to: &mut W) -> Result<()> {
        self.open -= 1;
        self.open += usize::from(self.awaits_value);
        to.write_all(b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> Result<()> {
        self.open += 1;
        self.open += usize::from(self.awaits_value);
        CompactFormatter.begin_object_key(to, first)
    }

    fn end_object_key<W: Write + ?Sized>(&mut self, _: &mut W) -> Result<()> {
        self.open -= 1;
        self.awaits_value = true;
        Ok(())
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> Result<()> {
        self.open += 1 + usize::from(!self.awaits_value);
        self.awaits_value = false;
        to.write_all(b":")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> Result<()> {
        self.open -= 1;
        Ok(())
    }

    fn write_null<W: Write + ?Sized>(&mut self, to: &mut W) -> Result<()> {
        self.wrote_null = true;
        to.write_all(b"null")
    }

    fn begin_string<W: Write + ?Sized>(&mut self, to: &mut W) -> Result<()> {
        if self.open == 0 {
            self.is_text = true;
            return Ok(());
        }
        to.write_all(b"\"")
    }

    fn end_string<W: Write + ?Sized>(&mut self, to: &mut W) -> Result<()> {
        if self.is_text {
            return Ok(());
        }
        to.write_all(b"\"")
    }

    fn write_char_escape<W: Write + ?Sized>(
        &mut self,
        to: &mut W,
        escape: CharEscape,
    ) -> Result<()> {
        if !self.is_text {
            return CompactFormatter.write_char_escape(to, escape);
        }
        to.write_all(&[match escape {
            CharEscape::Quote => b'"',
            CharEscape::ReverseSolidus => b'\\',
            CharEscape::Solidus => b'/',
            CharEscape::Backspace => 8,
            CharEscape::FormFeed => 12,
            CharEscape::LineFeed => b'\n',
            CharEscape::CarriageReturn => b'\r',
            CharEscape::Tab => b'\t',
            CharEscape::AsciiControl(byte) => byte,
        }])
    }
}

#[cfg(test)]
mod tests;
