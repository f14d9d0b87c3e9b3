//! Finds types that pass over errors, whose schema does not say all that they take.

use serde::de::value::Error as Refused;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

/// Whether values of the type are made, at any place of a list or an option, of what cannot be read.
pub(super) fn is_forgiving<'de, T: Deserialize<'de>>() -> bool {
    T::deserialize(Refusing).is_ok()
}

/// A source of which nothing can be read. It has options and lists, so that what is in them is asked as well.
struct Refusing;

/// As many items as a list of a fixed length is likely to have.
struct Items(u8);

const ITEMS: Items = Items(64);

impl<'de> Deserializer<'de> for Refusing {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refused> {
        Err(Refused::custom("refused"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_seq(ITEMS)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_seq(ITEMS)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refused> {
        if self.0 == 0 {
            return Ok(None);
        }
        self.0 -= 1;
        seed.deserialize(Refusing).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    use super::is_forgiving;

    struct Forgiving;

    impl<'de> Deserialize<'de> for Forgiving {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let _ = u8::deserialize(deserializer);
            Ok(Self)
        }
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "it is only asked whether it can be read")]
    struct Wrapped<T>(T);

    #[test]
    fn a_type_that_passes_over_errors_is_found_wherever_it_stands() {
        assert!(is_forgiving::<Forgiving>());
        assert!(is_forgiving::<Option<Forgiving>>());
        assert!(is_forgiving::<Vec<Forgiving>>());
        assert!(is_forgiving::<Vec<Option<Wrapped<Forgiving>>>>());
        assert!(is_forgiving::<[Forgiving; 3]>());
    }

    #[test]
    fn no_other_type_is_taken_for_one() {
        assert!(!is_forgiving::<u8>());
        assert!(!is_forgiving::<Option<f64>>());
        assert!(!is_forgiving::<Vec<String>>());
        assert!(!is_forgiving::<Vec<Vec<bool>>>());
        assert!(!is_forgiving::<[i64; 2]>());
        assert!(!is_forgiving::<Wrapped<char>>());
        assert!(!is_forgiving::<Value>());
        assert!(!is_forgiving::<&str>());
    }
}
