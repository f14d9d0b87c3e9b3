//! Digests of arguments: all that a history keeps of them.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use contract_schema::number_text;

/// The arguments of a call, as far as they can be asked for: one number for each, made of its name and value.
///
/// The hash function has a random key of its run, so nobody can choose arguments whose numbers meet.
#[derive(Debug)]
pub(super) struct Digest {
    pub(super) pairs: Box<[u64]>,
    /// The names among them that no parameter of the schema has, as [`name`] makes numbers of them.
    pub(super) further: Vec<u64>,
}

/// The most arguments of a call that are kept.
const MOST: usize = 64;

/// The arguments of a call as they were sent, and what its tool says about them.
pub(crate) trait CallArguments {
    /// The arguments as JSON; blank text stands for no arguments.
    fn text(&self) -> &str;

    /// Calls this with the name of each parameter, and with its default.
    fn each_parameter(&self, visit: &mut dyn FnMut(&str, Option<&Value>));
}

/// Returns nothing for more arguments than are kept.
pub(super) fn digest(key: &RandomState, arguments: &dyn CallArguments) -> Option<Digest> {
    let mut sent = sent(key, arguments.text())?;
    let mut pairs = Vec::with_capacity(sent.len());
    arguments.each_parameter(&mut |name, default| {
        let given = sent
            .iter()
            .position(|(sent, value)| sent == name && value.is_some());
        let value = given.and_then(|index| sent.get_mut(index)?.1.take());
        let value = value.unwrap_or_else(|| of_value(key, default.unwrap_or(&Value::Null)));
        pairs.push(named(key, name, value));
    });
    let rest = || {
        sent.iter()
            .filter_map(|(name, value)| Some((name, (*value)?)))
    };
    pairs.extend(rest().map(|(name, value)| named(key, name, value)));
    let further = rest().map(|(given, _)| name(key, given)).collect();
    (pairs.len() <= MOST).then(|| Digest {
        pairs: pairs.into(),
        further,
    })
}

/// The numbers of all arguments, in an order that does not depend on theirs; nothing for more than are kept.
pub(crate) fn sorted_digest(key: &RandomState, arguments: &dyn CallArguments) -> Option<Vec<u64>> {
    let mut pairs = digest(key, arguments)?.pairs.into_vec();
    pairs.sort_unstable();
    Some(pairs)
}

/// The number of a name.
pub(super) fn name(key: &RandomState, name: &str) -> u64 {
    key.hash_one(name)
}

/// The number of an argument with this name and value.
pub(super) fn pair(key: &RandomState, name: &str, value: &Value) -> u64 {
    named(key, name, of_value(key, value))
}

fn named(key: &RandomState, name: &str, value: u64) -> u64 {
    key.hash_one((name, value))
}

fn of_value(key: &RandomState, value: &Value) -> u64 {
    // A value that is there can be read, so the number is never made up.
    HashOf(key).deserialize(value).unwrap_or_default()
}

/// A name as it was sent and the number of its value; none for null, which is as good as left out.
type Sent<'t> = (Cow<'t, str>, Option<u64>);

/// What was sent; nothing for too much of it.
fn sent<'t>(key: &RandomState, text: &'t str) -> Option<Vec<Sent<'t>>> {
    let trimmed = text.trim_ascii();
    if trimmed.is_empty() || trimmed == "null" {
        return Some(Vec::new());
    }
    let mut json = serde_json::Deserializer::from_str(trimmed);
    json.deserialize_map(Members(key)).ok()
}

struct Members<'k>(&'k RandomState);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Vec<Sent<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let null = of_value(self.0, &Value::Null);
        let mut sent = Vec::with_capacity(8);
        while let Some(Name(name)) = map.next_key()? {
            let value = map.next_value_seed(HashOf(self.0))?;
            if sent.len() == MOST {
                return Err(A::Error::custom("more arguments than are kept"));
            }
            sent.push((name, (value != null).then_some(value)));
        }
        Ok(sent)
    }
}

/// Borrowed where nothing in it is escaped.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Name<'t>(#[serde(borrow)] Cow<'t, str>);

/// Hashes a value while it is read.
#[derive(Clone, Copy)]
struct HashOf<'k>(&'k RandomState);

impl HashOf<'_> {
    fn of<T: Hash>(self, kind: u8, value: T) -> u64 {
        self.0.hash_one((kind, value))
    }
}

const NULL: u8 = 0;
const BOOL: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const OBJECT: u8 = 5;

impl<'de> DeserializeSeed<'de> for HashOf<'_> {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HashOf<'_> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<u64, E> {
        Ok(self.of(NULL, ()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<u64, E> {
        Ok(self.of(BOOL, value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<u64, E> {
        Ok(self.of(NUMBER, i128::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<u64, E> {
        Ok(self.of(NUMBER, i128::from(value)))
    }

    /// `5` and `5.0` are one number.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::float_cmp,
        reason = "only whole numbers within the range are taken as such"
    )]
    fn visit_f64<E>(self, value: f64) -> Result<u64, E> {
        const BOUND: f64 = 1.0e30;
        if value.trunc() == value && value.abs() < BOUND {
            return Ok(self.of(NUMBER, value as i128));
        }
        Ok(self.of(NUMBER, value.to_bits()))
    }

    fn visit_str<E>(self, value: &str) -> Result<u64, E> {
        Ok(self.of(TEXT, value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let mut hasher = self.0.build_hasher();
        ARRAY.hash(&mut hasher);
        while let Some(item) = items.next_element_seed(self)? {
            item.hash(&mut hasher);
        }
        Ok(hasher.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u64, A::Error> {
        // The order of members says nothing.
        let mut sum = 0_u64;
        while let Some(Name(name)) = members.next_key()? {
            if number_text::is_key(&name) {
                let Name(digits) = members.next_value()?;
                return self.visit_f64(number_text::float(&digits)?);
            }
            let value = members.next_value_seed(self)?;
            sum = sum.wrapping_add(named(self.0, &name, value));
        }
        Ok(self.of(OBJECT, sum))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_are_equal_as_json_have_one_digest() {
        let key = RandomState::new();
        let of = |value: &Value| pair(&key, "id", value);
        assert_eq!(of(&json!(5)), of(&json!(5.0)));
        assert_eq!(
            of(&json!({"a": 1, "b": [2]})),
            of(&json!({"b": [2], "a": 1}))
        );
        for (one, other) in [
            (json!(5), json!("5")),
            (json!(5), json!(6)),
            (json!(null), json!(false)),
            (json!([1, 2]), json!([2, 1])),
            (json!([[1], 2]), json!([[1, 2]])),
            (json!({"a": 1, "b": 2}), json!({"a": 2, "b": 1})),
            (json!(0.5), json!(1.5)),
        ] {
            assert_ne!(of(&one), of(&other), "{one} {other}");
        }
        assert_ne!(pair(&key, "a", &json!(1)), pair(&key, "b", &json!(1)));
    }
}
