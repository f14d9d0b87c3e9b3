//! The value of an argument that is not there.

use serde::de::value::Error as AbsentError;
use serde::de::{Deserializer, Error as _, Visitor};

/// The source of an absent argument: an `Option` reads `None` from it and nothing else reads anything.
///
/// This is what a derived `Deserialize` does with an absent field, so an alias of `Option` is as optional as `Option`.
pub(super) struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = AbsentError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, AbsentError> {
        Err(AbsentError::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AbsentError> {
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: V,
    ) -> Result<V::Value, AbsentError> {
        Err(AbsentError::custom("absent"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
