//! Finds numbers that JSON cannot carry: `serde_json` writes NaN and the infinities as `null`, and does not say where.

use std::cell::OnceCell;
use std::fmt::Error as Found;

use serde::ser::{self, Error as _, Serialize, Serializer};
use serde_json::Value;

/// Returns the JSON pointer (RFC 6901) to the first number that is not finite, or `None` if every number is finite.
#[cold]
pub(super) fn find<T: Serialize + ?Sized>(value: &T) -> Option<String> {
    let found = OnceCell::new();
    let root = Finder {
        found: &found,
        above: None,
        step: Step::Root,
        variant: None,
    };
    // An error says that a number was found or that the type refused to be serialized; a type may ignore it.
    let _ = value.serialize(root);
    found.into_inner()
}

/// One value, linked to the list or object around it, so that a step does not allocate.
#[derive(Clone, Copy)]
struct Finder<'p> {
    found: &'p OnceCell<String>,
    above: Option<&'p Self>,
    step: Step<'p>,
    /// The enum variant that stands there, which is an object of one member.
    variant: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl Finder<'_> {
    fn below<T: Serialize + ?Sized>(&self, step: Step<'_>, value: &T) -> Result<(), Found> {
        value.serialize(Finder {
            above: Some(self),
            step,
            variant: None,
            ..*self
        })
    }

    fn float(&self, is_finite: bool) -> Result<(), Found> {
        if is_finite {
            return Ok(());
        }
        let _ = self.found.set(self.pointer());
        Err(Found)
    }

    fn pointer(&self) -> String {
        let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
        let mut pointer = self.above.map_or_else(String::new, Finder::pointer);
        match self.step {
            Step::Root => {}
            Step::Key(key) => pointer.extend(["/", &escaped(key)]),
            Step::Index(index) => pointer.extend(["/", &index.to_string()]),
        }
        if let Some(variant) = self.variant {
            pointer.extend(["/", &escaped(variant)]);
        }
        pointer
    }
}

/// Values that hold no float.
macro_rules! no_floats {
    ($($method:ident($($type:ty),*))*) => {$(
        fn $method(self, $(_: $type),*) -> Result<(), Found> {
            Ok(())
        }
    )*};
}

/// Values that hold others, which may be those of an enum variant.
macro_rules! members {
    ($($method:ident($($type:ty),*))*) => {$(
        fn $method(self, $(_: $type),*) -> Result<Members<'p>, Found> {
            Ok(Members::of(self, None))
        }
    )*};
    ($($method:ident)*) => {$(
        fn $method(
            self,
            _: &'static str,
            _: u32,
            variant: &'static str,
            _: usize,
        ) -> Result<Members<'p>, Found> {
            Ok(Members::of(self, Some(variant)))
        }
    )*};
}

impl<'p> Serializer for Finder<'p> {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Members<'p>;
    type SerializeTuple = Members<'p>;
    type SerializeTupleStruct = Members<'p>;
    type SerializeTupleVariant = Members<'p>;
    type SerializeMap = Members<'p>;
    type SerializeStruct = Members<'p>;
    type SerializeStructVariant = Members<'p>;

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
    members!(serialize_tuple_variant serialize_struct_variant);

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
        self.below(Step::Key(variant), value)
    }
}

/// The items of a list or the members of an object.
struct Members<'p> {
    of: Finder<'p>,
    /// The index of the next item of a list.
    index: usize,
    /// The key of the next value of a map.
    key: String,
}

impl<'p> Members<'p> {
    fn of(of: Finder<'p>, variant: Option<&'static str>) -> Self {
        Self {
            of: Finder { variant, ..of },
            index: 0,
            key: String::new(),
        }
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
                let [step, ..] = [$(Step::Key($name),)? Step::Index(self.index)];
                self.index += 1;
                self.of.below(step, value)
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
        self.of.below(Step::Key(&self.key), value)
    }

    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}
