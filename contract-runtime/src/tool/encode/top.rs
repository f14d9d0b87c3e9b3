//! Encodes the outermost value of a result: a string as it is, everything else as JSON.

use std::fmt::{Display, Write as _};

use serde::ser::{self, Serialize};

/// A serializer of JSON that is not asked for one string alone.
///
/// Such a string would be escaped byte by byte, to be given without escapes.
pub(super) struct Top<'s, S> {
    pub(super) json: S,
    /// The result, where it is a string.
    pub(super) string: &'s mut Option<String>,
}

/// Methods that JSON has an answer to.
macro_rules! as_json {
    ($($method:ident($($name:ident: $type:ty),*) -> $out:ident;)*) => {$(
        fn $method(self $(, $name: $type)*) -> Result<S::$out, S::Error> {
            self.json.$method($($name),*)
        }
    )*};
}

impl<S: ser::Serializer<Ok = ()>> ser::Serializer for Top<'_, S> {
    type Ok = ();
    type Error = S::Error;
    type SerializeSeq = S::SerializeSeq;
    type SerializeTuple = S::SerializeTuple;
    type SerializeTupleStruct = S::SerializeTupleStruct;
    type SerializeTupleVariant = S::SerializeTupleVariant;
    type SerializeMap = S::SerializeMap;
    type SerializeStruct = S::SerializeStruct;
    type SerializeStructVariant = S::SerializeStructVariant;

    fn serialize_str(self, text: &str) -> Result<(), S::Error> {
        *self.string = Some(text.to_owned());
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, text: &T) -> Result<(), S::Error> {
        let mut string = String::new();
        write!(string, "{text}").map_err(ser::Error::custom)?;
        *self.string = Some(string);
        Ok(())
    }

    fn serialize_char(self, letter: char) -> Result<(), S::Error> {
        self.serialize_str(letter.encode_utf8(&mut [0; 4]))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), S::Error> {
        self.serialize_str(variant)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), S::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        self.json
            .serialize_newtype_variant(name, index, variant, value)
    }

    as_json! {
        serialize_bool(value: bool) -> Ok;
        serialize_i8(value: i8) -> Ok;
        serialize_i16(value: i16) -> Ok;
        serialize_i32(value: i32) -> Ok;
        serialize_i64(value: i64) -> Ok;
        serialize_i128(value: i128) -> Ok;
        serialize_u8(value: u8) -> Ok;
        serialize_u16(value: u16) -> Ok;
        serialize_u32(value: u32) -> Ok;
        serialize_u64(value: u64) -> Ok;
        serialize_u128(value: u128) -> Ok;
        serialize_f32(value: f32) -> Ok;
        serialize_f64(value: f64) -> Ok;
        serialize_bytes(value: &[u8]) -> Ok;
        serialize_none() -> Ok;
        serialize_unit() -> Ok;
        serialize_unit_struct(name: &'static str) -> Ok;
        serialize_seq(length: Option<usize>) -> SerializeSeq;
        serialize_tuple(length: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, length: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeTupleVariant;
        serialize_map(length: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, length: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeStructVariant;
    }
}
