//! Finds numbers that JSON cannot carry: `serde_json` writes NaN and the infinities as `null`, and does not say where.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize, Serializer};
use serde_json::Value;

/// Returns the JSON pointer (RFC 6901) to the first number that is not finite, or `None` if every number is finite.
#[cold]
pub(super) fn find<T: Serialize + ?Sized>(value: &T) -> Option<String> {
    match value.serialize(Finder) {
        Err(Stop::NotFinite(pointer)) => Some(pointer),
        Ok(()) | Err(Stop::Refused) => None,
    }
}

struct Finder;

/// Why the search ended early.
#[derive(Debug)]
enum Stop {
    /// The number at this pointer is not finite.
    NotFinite(String),
    /// The type refused to be serialized.
    Refused,
}

impl Stop {
    /// Extends the pointer by the list or object that holds the value.
    fn below(self, step: &str) -> Self {
        match self {
            Self::NotFinite(pointer) => {
                let step = step.replace('~', "~0").replace('/', "~1");
                Self::NotFinite(format!("/{step}{pointer}"))
            }
            Self::Refused => Self::Refused,
        }
    }
}

impl Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the search for a number that is not finite ended")
    }
}

impl std::error::Error for Stop {}

impl ser::Error for Stop {
    fn custom<T: Display>(_: T) -> Self {
        Self::Refused
    }
}

fn float(is_finite: bool) -> Result<(), Stop> {
    if is_finite {
        return Ok(());
    }
    Err(Stop::NotFinite(String::new()))
}

/// Values that hold no float.
macro_rules! no_floats {
    ($($method:ident($($type:ty),*))*) => {$(
        fn $method(self, $(_: $type),*) -> Result<(), Stop> {
            Ok(())
        }
    )*};
}

impl Serializer for Finder {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = Members;
    type SerializeTuple = Members;
    type SerializeTupleStruct = Members;
    type SerializeTupleVariant = Members;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    no_floats! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_none() serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Stop> {
        float(value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Stop> {
        float(value.is_finite())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        value.serialize(self).map_err(|stop| stop.below(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members, Stop> {
        Ok(Members::of(None))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members, Stop> {
        Ok(Members::of(None))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members, Stop> {
        Ok(Members::of(None))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members, Stop> {
        Ok(Members::of(Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, Stop> {
        Ok(Members::of(None))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Stop> {
        Ok(Members::of(None))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members, Stop> {
        Ok(Members::of(Some(variant)))
    }
}

/// The items of a list or the members of an object.
struct Members {
    /// The enum variant around them, which is an object of one member.
    variant: Option<&'static str>,
    /// The index of the next item of a list.
    index: usize,
    /// The key of the next value of a map.
    key: String,
    /// The first stop, also if the type ignored it.
    stop: Option<Stop>,
}

impl Members {
    fn of(variant: Option<&'static str>) -> Self {
        Self {
            variant,
            index: 0,
            key: String::new(),
            stop: None,
        }
    }

    fn member<T: Serialize + ?Sized>(&mut self, step: &str, value: &T) {
        if self.stop.is_none() {
            self.stop = value.serialize(Finder).err().map(|stop| stop.below(step));
        }
    }

    fn finish(self) -> Result<(), Stop> {
        let variant = self.variant;
        match self.stop {
            None => Ok(()),
            Some(stop) => Err(variant.into_iter().fold(stop, Stop::below)),
        }
    }
}

macro_rules! lists {
    ($($trait:ident $method:ident)*) => {$(
        impl ser::$trait for Members {
            type Ok = ();
            type Error = Stop;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
                let step = self.index.to_string();
                self.index += 1;
                self.member(&step, value);
                Ok(())
            }

            fn end(self) -> Result<(), Stop> {
                self.finish()
            }
        }
    )*};
}

lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! structs {
    ($($trait:ident)*) => {$(
        impl ser::$trait for Members {
            type Ok = ();
            type Error = Stop;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Stop> {
                self.member(name, value);
                Ok(())
            }

            fn end(self) -> Result<(), Stop> {
                self.finish()
            }
        }
    )*};
}

structs!(SerializeStruct SerializeStructVariant);

impl ser::SerializeMap for Members {
    type Ok = ();
    type Error = Stop;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Stop> {
        self.key = match serde_json::to_value(key) {
            Ok(Value::String(text)) => text,
            Ok(other) => other.to_string(),
            Err(_) => return Err(Stop::Refused),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        let key = std::mem::take(&mut self.key);
        self.member(&key, value);
        Ok(())
    }

    fn end(self) -> Result<(), Stop> {
        self.finish()
    }
}
