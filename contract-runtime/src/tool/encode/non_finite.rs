//! Finds numbers that JSON cannot carry: `serde_json` writes NaN and the infinities as `null`, and does not say where.

use std::fmt::Error as Found;
use std::mem::take;

use serde::ser::{self, Error as _, Serialize, Serializer};
use serde_json::Value;

/// Returns the JSON pointer (RFC 6901) to the first number that is not finite, or `None` if every number is finite.
pub(super) fn find<T: Serialize + ?Sized>(value: &T) -> Option<String> {
    let mut finder = Finder::default();
    // An error says that a number was found or that the type refused to be serialized; a type may ignore it.
    let _ = value.serialize(&mut finder);
    finder.found
}

#[derive(Default)]
struct Finder {
    pointer: String,
    found: Option<String>,
}

impl Finder {
    fn float(&mut self, is_finite: bool) -> Result<(), Found> {
        if is_finite {
            return Ok(());
        }
        self.found.get_or_insert_with(|| self.pointer.clone());
        Err(Found)
    }

    fn step(&mut self, key: &str) {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        self.pointer.extend(["/", &escaped]);
    }
}

macro_rules! no_floats {
    ($($method:ident($($type:ty),*))*) => {$(
        fn $method(self, $(_: $type),*) -> Result<(), Found> {
            Ok(())
        }
    )*};
}

macro_rules! members {
    ($($method:ident($($type:ty),*))*) => {$(
        fn $method(self, $(_: $type),*) -> Result<Members<'f>, Found> {
            Ok(Members::of(self))
        }
    )*};
}

/// Values that hold others below the name of their variant.
macro_rules! variants {
    ($($method:ident)*) => {$(
        fn $method(
            self,
            _: &'static str,
            _: u32,
            variant: &'static str,
            _: usize,
        ) -> Result<Members<'f>, Found> {
            self.step(variant);
            Ok(Members::of(self))
        }
    )*};
}

impl<'f> Serializer for &'f mut Finder {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Members<'f>;
    type SerializeTuple = Members<'f>;
    type SerializeTupleStruct = Members<'f>;
    type SerializeTupleVariant = Members<'f>;
    type SerializeMap = Members<'f>;
    type SerializeStruct = Members<'f>;
    type SerializeStructVariant = Members<'f>;

    no_floats! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_none() serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }
    members! {
        serialize_seq(Option<usize>) serialize_map(Option<usize>) serialize_tuple(usize)
        serialize_tuple_struct(&'static str, usize) serialize_struct(&'static str, usize)
    }
    variants!(serialize_tuple_variant serialize_struct_variant);

    fn serialize_f32(self, value: f32) -> Result<(), Found> {
        self.float(value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Found> {
        self.float(value.is_finite())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        self.step(variant);
        value.serialize(self)
    }
}

/// The items of a list or the members of an object.
struct Members<'f> {
    finder: &'f mut Finder,
    /// The length of the pointer to the list or object.
    length: usize,
    index: usize,
    key: String,
}

impl<'f> Members<'f> {
    fn of(finder: &'f mut Finder) -> Self {
        Self {
            length: finder.pointer.len(),
            finder,
            index: 0,
            key: String::new(),
        }
    }

    fn below<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Found> {
        self.finder.pointer.truncate(self.length);
        self.finder.step(key);
        value.serialize(&mut *self.finder)
    }
}

macro_rules! parts {
    ($($trait:ident $method:ident($($name:ident)?))*) => {$(
        impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Found;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: &'static str,)?
                value: &T,
            ) -> Result<(), Found> {
                let index = self.index.to_string();
                self.index += 1;
                let [key, ..] = [$($name,)? &index];
                self.below(key, value)
            }

            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        }
    )*};
}

parts! {
    SerializeSeq serialize_element()
    SerializeTuple serialize_element()
    SerializeTupleStruct serialize_field()
    SerializeTupleVariant serialize_field()
    SerializeStruct serialize_field(name)
    SerializeStructVariant serialize_field(name)
}

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Found;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Found> {
        self.key = match serde_json::to_value(key).map_err(Found::custom)? {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        let key = take(&mut self.key);
        self.below(&key, value)
    }

    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}
