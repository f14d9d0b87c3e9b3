//! Digests of arguments: all that a history keeps of them.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Number, Value};

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

/// Returns `None` for more arguments than are kept.
pub(super) fn digest(key: &RandomState, arguments: &dyn CallArguments) -> Option<Digest> {
    let mut sent = sent(arguments.text())?;
    let mut pairs = Vec::with_capacity(sent.len());
    arguments.each_parameter(&mut |name, default| {
        let value = sent.remove(name);
        let value = value.as_ref().or(default).unwrap_or(&Value::Null);
        pairs.push(pair(key, name, value));
    });
    pairs.extend(sent.iter().map(|(name, value)| pair(key, name, value)));
    let further = sent.keys().map(|given| name(key, given)).collect();
    (pairs.len() <= MOST).then(|| Digest {
        pairs: pairs.into(),
        further,
    })
}

/// The arguments that were sent, without those that are null, which is as good as left out. Returns `None` for too many.
fn sent(text: &str) -> Option<Map<String, Value>> {
    let trimmed = text.trim_ascii();
    if trimmed.is_empty() || trimmed == "null" {
        return Some(Map::new());
    }
    let mut sent: Map<String, Value> = serde_json::from_str(trimmed).ok()?;
    let kept = sent.len() <= MOST;
    sent.retain(|_, value| !value.is_null());
    kept.then_some(sent)
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
    key.hash_one((name, of_value(key, value)))
}

/// Equal for values that are equal as JSON: the order of members says nothing, and `5` and `5.0` are one number.
fn of_value(key: &RandomState, value: &Value) -> u64 {
    match value {
        Value::Null => key.hash_one(0),
        Value::Bool(flag) => key.hash_one((1, flag)),
        Value::Number(number) => match whole(number) {
            Some(whole) => key.hash_one((2, whole)),
            // A number that no float holds is known by its digits.
            None => key.hash_one((3, number.as_f64().map(f64::to_bits).ok_or(number))),
        },
        Value::String(text) => key.hash_one((4, text)),
        Value::Array(items) => {
            let items: Vec<u64> = items.iter().map(|item| of_value(key, item)).collect();
            key.hash_one((5, items))
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| pair(key, name, value));
            key.hash_one((6, members.fold(0, u64::wrapping_add)))
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "only whole numbers within the range are taken as such"
)]
fn whole(number: &Number) -> Option<i128> {
    const BOUND: f64 = 1.0e30;
    let long = || {
        let float = number.as_f64()?;
        (float.trunc() == float && float.abs() < BOUND).then_some(float as i128)
    };
    let unsigned = || number.as_u64().map(i128::from);
    number
        .as_i64()
        .map(i128::from)
        .or_else(unsigned)
        .or_else(long)
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
