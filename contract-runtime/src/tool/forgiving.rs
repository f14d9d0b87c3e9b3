//! Finds types whose schema does not say what they read: those that pass over errors, and maps whose keys are not strings.

use std::cell::Cell;

use serde::de::value::Error as Refused;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};

/// How the values of a type are made, beside what its schema says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoding {
    AsDescribed,
    /// At some place of a list or an option, also of what cannot be read.
    Forgiving,
    /// Never, because the keys of a map are structs or lists, which JSON does not have as keys.
    UnreadableKeys,
}

impl Decoding {
    pub(super) fn of<'de, T: Deserialize<'de>>() -> Self {
        let by_key = Cell::new(false);
        match T::deserialize(Refusing::Value(&by_key)) {
            Ok(_) => Self::Forgiving,
            Err(_) if by_key.get() => Self::UnreadableKeys,
            Err(_) => Self::AsDescribed,
        }
    }
}

/// A deserializer that refuses every scalar.
#[derive(Clone, Copy)]
pub(super) enum Refusing<'f> {
    /// An option reads `None` from it, and nothing else reads anything.
    Absent,
    /// It offers options, lists and maps, so that the types inside them are tried as well.
    Value(&'f Cell<bool>),
    /// It does so as the key of a map, and notes whether that asked for what no string holds.
    Key(&'f Cell<bool>),
}

impl Refusing<'_> {
    /// Refuses what asks for more than one value, unless it stands where such values stand.
    fn asked_for_several(self) -> Result<(), Refused> {
        match self {
            Self::Value(_) => return Ok(()),
            Self::Key(by_key) => by_key.set(true),
            Self::Absent => {}
        }
        Err(Refused::custom("refused"))
    }
}

/// As many items as a list of a fixed length is likely to have, or the entries of a map.
struct Items<'f>(u8, Refusing<'f>);

const ITEMS: u8 = 64;

impl<'de> Deserializer<'de> for Refusing<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refused> {
        Err(Refused::custom("refused"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self {
            Self::Absent => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self {
            Self::Absent => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.asked_for_several()?;
        visitor.visit_seq(Items(ITEMS, self))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.asked_for_several()?;
        visitor.visit_map(Items(ITEMS, self))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.asked_for_several()?;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple_struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refused> {
        if self.0 == 0 {
            return Ok(None);
        }
        self.0 -= 1;
        seed.deserialize(self.1).map(Some)
    }
}

impl<'de> MapAccess<'de> for Items<'_> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refused> {
        let key = match self.1 {
            Refusing::Value(by_key) => Refusing::Key(by_key),
            other => other,
        };
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        seed.deserialize(self.1)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    use std::collections::{BTreeMap, HashMap};

    use super::Decoding;

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
        assert_eq!(Decoding::of::<Forgiving>(), Decoding::Forgiving);
        assert_eq!(Decoding::of::<Option<Forgiving>>(), Decoding::Forgiving);
        assert_eq!(Decoding::of::<Vec<Forgiving>>(), Decoding::Forgiving);
        assert_eq!(
            Decoding::of::<Vec<Option<Wrapped<Forgiving>>>>(),
            Decoding::Forgiving
        );
        assert_eq!(Decoding::of::<[Forgiving; 3]>(), Decoding::Forgiving);
    }

    #[test]
    fn no_other_type_is_taken_for_one() {
        assert_eq!(Decoding::of::<u8>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<Option<f64>>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<Vec<String>>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<Vec<Vec<bool>>>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<[i64; 2]>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<Wrapped<char>>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<Value>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<&str>(), Decoding::AsDescribed);
    }

    #[derive(Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
    struct Place {
        row: u8,
    }

    #[derive(Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
    enum Mode {
        Fast,
    }

    #[test]
    fn maps_are_told_apart_by_their_keys() {
        let _ = (Place { row: 1 }, Mode::Fast);
        assert_eq!(
            Decoding::of::<BTreeMap<Place, u8>>(),
            Decoding::UnreadableKeys
        );
        assert_eq!(
            Decoding::of::<Vec<HashMap<(u8, u8), u8>>>(),
            Decoding::UnreadableKeys
        );
        assert_eq!(
            Decoding::of::<Option<BTreeMap<Vec<u8>, u8>>>(),
            Decoding::UnreadableKeys
        );
        assert_eq!(
            Decoding::of::<BTreeMap<String, Place>>(),
            Decoding::AsDescribed
        );
        assert_eq!(Decoding::of::<HashMap<u64, u8>>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<BTreeMap<Mode, u8>>(), Decoding::AsDescribed);
        assert_eq!(Decoding::of::<BTreeMap<bool, u8>>(), Decoding::AsDescribed);
    }
}
