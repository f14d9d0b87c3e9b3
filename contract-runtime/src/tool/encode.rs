//! Encodes results as text: strings as they are, everything else as compact JSON.

mod writer;

use serde::Serialize;

use self::writer::{Unwritable, Writer};
use super::outcome::OutputKind;
use super::reply::{NoOutput, Output, Reply};

pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Reply {
    let mut writer = Writer::new();
    match value.serialize(&mut writer) {
        Ok(()) if writer.is_whole() => Ok(written(writer)),
        Ok(()) => Err(unwritable(Unwritable::passed_over())),
        Err(error) => Err(unwritable(error)),
    }
}

/// Whether JSON can carry every number of a value.
pub(crate) fn is_writable<T: Serialize + ?Sized>(value: &T) -> bool {
    let mut writer = Writer::new();
    value.serialize(&mut writer).is_ok() && writer.is_whole()
}

fn written(writer: Writer) -> Output {
    let (text, is_text) = writer.into_text();
    let kind = if is_text {
        OutputKind::Text
    } else {
        OutputKind::Json
    };
    Output {
        text,
        kind,
        artifacts: None,
    }
}

#[cold]
fn unwritable(error: Unwritable) -> NoOutput {
    let what = "a number that JSON cannot carry (NaN or an infinity)";
    NoOutput::Failed(match error {
        Unwritable::NotFinite(place) if place.is_empty() => format!("the result is {what}"),
        Unwritable::NotFinite(place) => format!("the result holds {what} at `{place}`"),
        Unwritable::Refused(why) => format!("the result cannot be written as JSON: {why}"),
    })
}

/// Whether a failure is that of a result which could not be written, and not one that the tool speaks of.
#[must_use]
pub fn is_refusal(message: &str) -> bool {
    let begins = [
        "the result cannot be written as JSON: ",
        "the result is a number that JSON cannot carry",
        "the result holds a number that JSON cannot carry",
    ];
    begins.iter().any(|begin| message.starts_with(begin))
}
