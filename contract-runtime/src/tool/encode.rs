//! Encodes results as text: strings as they are, everything else as compact JSON.

mod top;

use std::cell::Cell;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use self::top::Top;
use super::non_finite;
use super::outcome::OutputKind;
use super::reply::{NoOutput, Output, Reply};

/// The usual size of a result, so that most are written without growing.
const FIRST_ALLOCATION: usize = 128;

pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Reply {
    let wrote_null = Cell::new(false);
    let mut text = Vec::with_capacity(FIRST_ALLOCATION);
    let mut string = None;
    let top = Top {
        json: &mut Serializer::with_formatter(&mut text, CheckEvent(&wrote_null)),
        string: &mut string,
    };
    value.serialize(top).map_err(|error| {
        NoOutput::Failed(format!("the result cannot be written as JSON: {error}"))
    })?;
    match string {
        Some(text) => Ok(Output {
            text,
            kind: OutputKind::Text,
            artifacts: None,
        }),
        None => finish(text, wrote_null.get(), value),
    }
}

/// Whether a failure is that of a result which could not be written, and not one that the tool speaks of.
#[must_use]
pub fn is_refusal(message: &str) -> bool {
    let begins = [
        "the result cannot be written as JSON: ",
        "the result is a number that JSON cannot carry",
        "the result holds a number that JSON cannot carry",
        "the result is not UTF-8",
    ];
    begins.iter().any(|begin| message.starts_with(begin))
}

fn finish<T: Serialize + ?Sized>(text: Vec<u8>, wrote_null: bool, value: &T) -> Reply {
    // serde_json writes NaN and the infinities as `null`, so a result without one needs no second look.
    if wrote_null && let Err(place) = non_finite::check(value) {
        let what = "a number that JSON cannot carry (NaN or an infinity)";
        return Err(NoOutput::Failed(match place.as_str() {
            "" => format!("the result is {what}"),
            place => format!("the result holds {what} at `{place}`"),
        }));
    }
    let text = String::from_utf8(text)
        .map_err(|_| NoOutput::Failed("the result is not UTF-8".to_owned()))?;
    Ok(Output {
        text,
        kind: OutputKind::Json,
        artifacts: None,
    })
}

/// Compact JSON, and whether there is a `null` in it.
struct CheckEvent<'s>(&'s Cell<bool>);

impl Formatter for CheckEvent<'_> {
    fn write_null<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.set(true);
        CompactFormatter.write_null(writer)
    }
}
