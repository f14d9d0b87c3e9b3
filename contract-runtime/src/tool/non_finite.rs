//! Finds a number that JSON cannot represent, by serialising a result once more.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};

/// The place of the first such number, as a JSON pointer (RFC 6901).
pub(crate) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), String> {
    value
        .serialize(&mut Walk { path: Vec::new() })
        .map_err(|NotFinite(place)| place)
}

struct Walk {
    path: Vec<String>,
}

#[derive(Debug)]
struct NotFinite(String);

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFinite {}

impl ser::Error for NotFinite {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl Walk {
    fn number(&self, finite: bool) -> Result<(), NotFinite> {
        if finite {
            return Ok(());
        }
        let mut place = String::new();
        for step in &self.path {
            place.push('/');
            place.push_str(&step.replace('~', "~0").replace('/', "~1"));
        }
        Err(NotFinite(place))
    }

    fn below<T: Serialize + ?Sized>(&mut self, step: String, value: &T) -> Result<(), NotFinite> {
        self.path.push(step);
        value.serialize(&mut *self)?;
        self.path.pop();
        Ok(())
    }
}

/// One member after another, of an array or an object.
struct Members<'w> {
    walk: &'w mut Walk,
    index: usize,
    key: String,
    /// An enum's variant is a step of its own.
    inside_variant: bool,
}

impl<'w> Members<'w> {
    fn new(walk: &'w mut Walk, variant: Option<&'static str>) -> Self {
        if let Some(variant) = variant {
            walk.path.push(variant.to_owned());
        }
        Self {
            walk,
            index: 0,
            key: String::new(),
            inside_variant: variant.is_some(),
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        let step = self.index.to_string();
        self.index += 1;
        self.walk.below(step, value)
    }

    fn done(self) {
        if self.inside_variant {
            self.walk.path.pop();
        }
    }
}

macro_rules! nothing_to_find {
    ($($method:ident($type:ty),)*) => {
        $(fn $method(self, _: $type) -> Result<(), NotFinite> { Ok(()) })*
    };
}

impl<'w> Serializer for &'w mut Walk {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Members<'w>;
    type SerializeTuple = Members<'w>;
    type SerializeTupleStruct = Members<'w>;
    type SerializeTupleVariant = Members<'w>;
    type SerializeMap = Members<'w>;
    type SerializeStruct = Members<'w>;
    type SerializeStructVariant = Members<'w>;

    nothing_to_find! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_i128(i128), serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_u128(u128), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str),
    }

    fn serialize_f32(self, value: f32) -> Result<(), NotFinite> {
        self.number(value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), NotFinite> {
        self.number(value.is_finite())
    }

    fn serialize_none(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        self.below(variant.to_owned(), value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'w>, NotFinite> {
        Ok(Members::new(self, None))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'w>, NotFinite> {
        Ok(Members::new(self, None))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'w>, NotFinite> {
        Ok(Members::new(self, None))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w>, NotFinite> {
        Ok(Members::new(self, Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'w>, NotFinite> {
        Ok(Members::new(self, None))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'w>, NotFinite> {
        Ok(Members::new(self, None))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w>, NotFinite> {
        Ok(Members::new(self, Some(variant)))
    }
}

macro_rules! sequence {
    ($($trait:ident $method:ident)*) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = NotFinite;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
                self.item(value)
            }
            fn end(self) -> Result<(), NotFinite> {
                self.done();
                Ok(())
            }
        })*
    };
}

sequence! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! record {
    ($($trait:ident)*) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = NotFinite;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), NotFinite> {
                self.walk.below(key.to_owned(), value)
            }
            fn end(self) -> Result<(), NotFinite> {
                self.done();
                Ok(())
            }
        })*
    };
}

record! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = NotFinite;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotFinite> {
        self.key = match serde_json::to_value(key) {
            Ok(serde_json::Value::String(text)) => text,
            Ok(other) => other.to_string(),
            Err(_) => String::new(),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        let step = std::mem::take(&mut self.key);
        self.walk.below(step, value)
    }

    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}
