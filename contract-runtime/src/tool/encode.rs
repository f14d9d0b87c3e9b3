//! Results to text: a string as it is, everything else as compact JSON, and no number that JSON cannot carry.

use std::cell::Cell;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};

use super::finite;
use super::reply::{Ended, Output, Reply};

/// The usual size of a result, so that most are written without growing.
const FIRST_ALLOCATION: usize = 128;

pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Reply {
    let state = State::default();
    let mut text = Vec::with_capacity(FIRST_ALLOCATION);
    let mut serializer = Serializer::with_formatter(
        &mut text,
        Plain {
            state: &state,
            depth: 0,
        },
    );
    value
        .serialize(&mut serializer)
        .map_err(|error| Ended::Failed(format!("the result cannot be written as JSON: {error}")))?;
    finish(text, &state, value)
}

/// Whether a failure is that of a result which could not be written, and not one that the tool speaks of.
#[cfg(feature = "verify")]
pub(crate) fn is_refusal(message: &str) -> bool {
    let begins = [
        "the result cannot be written as JSON: ",
        "the result is a number that JSON cannot carry",
        "the result holds a number that JSON cannot carry",
        "the result is not UTF-8",
    ];
    begins.iter().any(|begin| message.starts_with(begin))
}

fn finish<T: Serialize + ?Sized>(text: Vec<u8>, state: &State, value: &T) -> Reply {
    // serde_json writes NaN and the infinities as `null`, so a result without one needs no second look.
    if state.wrote_null.get()
        && let Err(place) = finite::check(value)
    {
        let what = "a number that JSON cannot carry (NaN or an infinity)";
        return Err(Ended::Failed(match place.as_str() {
            "" => format!("the result is {what}"),
            place => format!("the result holds {what} at `{place}`"),
        }));
    }
    let text =
        String::from_utf8(text).map_err(|_| Ended::Failed("the result is not UTF-8".to_owned()))?;
    Ok(Output {
        text,
        is_json: !state.is_string.get(),
        artifacts: None,
    })
}

#[derive(Default)]
struct State {
    wrote_null: Cell<bool>,
    is_string: Cell<bool>,
}

/// Compact JSON, except that a string at the top is written without quotes and escapes.
struct Plain<'s> {
    state: &'s State,
    depth: usize,
}

impl Formatter for Plain<'_> {
    fn write_null<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.state.wrote_null.set(true);
        CompactFormatter.write_null(writer)
    }

    fn begin_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth == 0 {
            self.state.is_string.set(true);
            return Ok(());
        }
        writer.write_all(b"\"")
    }

    fn end_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth == 0 {
            return Ok(());
        }
        writer.write_all(b"\"")
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        if self.depth > 0 {
            return CompactFormatter.write_char_escape(writer, escape);
        }
        let byte = match escape {
            CharEscape::Quote => b'"',
            CharEscape::ReverseSolidus => b'\\',
            CharEscape::Solidus => b'/',
            CharEscape::Backspace => 0x08,
            CharEscape::FormFeed => 0x0c,
            CharEscape::LineFeed => b'\n',
            CharEscape::CarriageReturn => b'\r',
            CharEscape::Tab => b'\t',
            CharEscape::AsciiControl(byte) => byte,
        };
        writer.write_all(&[byte])
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"}")
    }
}
