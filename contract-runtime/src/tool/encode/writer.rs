//! Writes a value as compact JSON, as `serde_json` does, except for its outermost string and for numbers that JSON cannot carry.
//!
//! A string alone is the result as it is; escaped, it would have to be read again. `serde_json` writes NaN and the infinities as
//! `null`, and does not say where.

mod members;

use std::fmt::{self, Write as _};
use std::io;

use serde::ser::{Error as _, Serialize, Serializer};

pub(super) use self::members::Members;
use crate::schema::lexer::is_plain;

/// The usual size of a result, so that most are written without growing.
const FIRST_ALLOCATION: usize = 128;

/// The numbers and raw texts of `serde_json` are structs of such a name, whose only field has it too and is JSON already.
const JSON_ALREADY: &str = "$serde_json::private::";

/// Why a value cannot be written.
#[derive(Debug)]
pub(super) enum Unwritable {
    /// It holds NaN or an infinity, at this JSON pointer (RFC 6901).
    NotFinite(String),
    /// It refused, or has a key that is not a string.
    Refused(String),
}

impl Unwritable {
    /// Of a value whose type went on although a part of it could not be written.
    #[cold]
    pub(super) fn passed_over() -> Self {
        Self::custom("a part of it could not be written, and its `Serialize` passed over that")
    }

    /// The same, seen from outside of a member.
    #[cold]
    fn below(self, step: &str) -> Self {
        match self {
            Self::NotFinite(place) => {
                let step = step.replace('~', "~0").replace('/', "~1");
                Self::NotFinite(format!("/{step}{place}"))
            }
            refused @ Self::Refused(_) => refused,
        }
    }
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite(place) => write!(f, "a number at `{place}` is not finite"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unwritable {}

impl serde::ser::Error for Unwritable {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Refused(message.to_string())
    }
}

/// Where the next value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is the whole result.
    Top,
    /// In a list or an object.
    Below,
    /// It is the key of a member.
    Key,
    /// It is a string that is JSON already.
    Raw,
}

pub(super) struct Writer {
    text: String,
    place: Place,
    /// The whole result is a string.
    is_text: bool,
    /// A part of it could not be written, and its type may have passed over that and gone on.
    is_broken: bool,
}

impl Writer {
    #[inline]
    pub(super) fn new() -> Self {
        Self {
            text: String::with_capacity(FIRST_ALLOCATION),
            place: Place::Top,
            is_text: false,
            is_broken: false,
        }
    }

    /// Whether nothing of it is missing.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        !self.is_broken
    }

    /// The text, and whether it is a string as it is.
    pub(super) fn into_text(self) -> (String, bool) {
        (self.text, self.is_text)
    }

    /// Writes something that needs no escapes, which a key has in quotes.
    #[inline]
    fn word(&mut self, word: &str) {
        if self.place == Place::Key {
            self.text.push('"');
            self.text.push_str(word);
            self.text.push('"');
        } else {
            self.text.push_str(word);
        }
    }

    /// Writes what no key can be.
    fn no_key(&mut self, word: &str) -> Result<(), Unwritable> {
        self.is_no_key()?;
        self.text.push_str(word);
        Ok(())
    }

    #[inline]
    fn is_no_key(&self) -> Result<(), Unwritable> {
        if self.place == Place::Key {
            return Err(Unwritable::custom("key must be a string"));
        }
        Ok(())
    }

    fn float(&mut self, is_finite: bool, value: impl Serialize) -> Result<(), Unwritable> {
        if !is_finite {
            return Err(match self.place {
                Place::Key => Unwritable::custom("float key must be finite (got NaN or +/-inf)"),
                _ => Unwritable::NotFinite(String::new()),
            });
        }
        // The longest are of 24 bytes.
        let mut room = io::Cursor::new([0; 32]);
        serde_json::to_writer(&mut room, &value).map_err(Unwritable::custom)?;
        let length = usize::try_from(room.position()).ok();
        let room = room.into_inner();
        let digits = length
            .and_then(|length| room.get(..length))
            .map(str::from_utf8);
        match digits {
            Some(Ok(digits)) => {
                self.word(digits);
                Ok(())
            }
            _ => Err(Unwritable::custom("a float is longer than any")),
        }
    }

    /// Writes the name of a member, behind the comma that separates it from the one before.
    fn name(&mut self, is_first: bool, name: &str) {
        // Each of a known length, which is written without a call.
        if is_first {
            self.text.push('"');
        } else {
            self.text.push_str(",\"");
        }
        self.inside_quotes(name);
        self.text.push_str("\":");
    }

    fn quoted(&mut self, string: &str) {
        self.text.push('"');
        self.inside_quotes(string);
        self.text.push('"');
    }

    #[inline]
    fn inside_quotes(&mut self, string: &str) {
        if is_plain(string.as_bytes()) {
            self.text.push_str(string);
        } else {
            self.escaped(string);
        }
    }

    /// Writes a string of which something needs an escape (RFC 8259, section 7).
    #[cold]
    fn escaped(&mut self, string: &str) {
        for letter in string.chars() {
            match letter {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\0'..' ' => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(letter));
                }
                letter => self.text.push(letter),
            }
        }
    }

    /// Begins a list or an object.
    #[inline]
    fn open(&mut self, open: char, close: char) -> Result<Members<'_>, Unwritable> {
        self.is_no_key()?;
        self.place = Place::Below;
        self.text.push(open);
        Ok(Members::new(self, close, None))
    }

    /// Begins the list or the object of a variant, which is the only member of another object.
    fn open_variant(
        &mut self,
        variant: &'static str,
        open: char,
        close: char,
    ) -> Result<Members<'_>, Unwritable> {
        self.begin_variant(variant)?;
        self.text.push(open);
        Ok(Members::new(self, close, Some(variant)))
    }

    fn begin_variant(&mut self, variant: &str) -> Result<(), Unwritable> {
        self.is_no_key()?;
        self.place = Place::Below;
        self.text.push('{');
        self.quoted(variant);
        self.text.push(':');
        Ok(())
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), Unwritable> {
            self.word(itoa::Buffer::new().format(value));
            Ok(())
        }
    )*};
}

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Members<'w>;
    type SerializeTuple = Members<'w>;
    type SerializeTupleStruct = Members<'w>;
    type SerializeTupleVariant = Members<'w>;
    type SerializeMap = Members<'w>;
    type SerializeStruct = Members<'w>;
    type SerializeStructVariant = Members<'w>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    fn serialize_bool(self, value: bool) -> Result<(), Unwritable> {
        self.word(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unwritable> {
        self.float(value.is_finite(), value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unwritable> {
        self.float(value.is_finite(), value)
    }

    fn serialize_char(self, value: char) -> Result<(), Unwritable> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Unwritable> {
        match self.place {
            Place::Below | Place::Key => self.quoted(value),
            Place::Raw => self.text.push_str(value),
            Place::Top => {
                self.text.push_str(value);
                self.is_text = true;
            }
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unwritable> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Unwritable> {
        self.no_key("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritable> {
        self.no_key("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritable> {
        self.no_key("null")
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Unwritable> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.begin_variant(variant)?;
        value
            .serialize(&mut *self)
            .map_err(|error| error.below(variant))?;
        self.text.push('}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'w>, Unwritable> {
        self.open('[', ']')
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'w>, Unwritable> {
        self.open('[', ']')
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'w>, Unwritable> {
        self.open('[', ']')
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w>, Unwritable> {
        self.open_variant(variant, '[', ']')
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'w>, Unwritable> {
        self.open('{', '}')
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'w>, Unwritable> {
        if name.starts_with(JSON_ALREADY) {
            self.is_no_key()?;
            self.place = Place::Raw;
            return Ok(Members::raw(self));
        }
        self.open('{', '}')
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w>, Unwritable> {
        self.open_variant(variant, '{', '}')
    }
}

#[cfg(test)]
mod tests;
