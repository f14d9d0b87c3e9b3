//! Digests of arguments: all that a history keeps of them.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::{Map, Number, Value};

/// The arguments of a call, as far as they can be asked for: one number for each, made of its name and value.
///
/// The hash function has a random key of its run, so nobody can choose arguments whose numbers meet.
#[derive(Debug)]
pub(super) struct Digest {
    pub(super) pairs: Box<[u64]>,
    /// The names among them that no parameter of the schema has.
    pub(super) further: Vec<String>,
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
    let mut sent = match serde_json::from_str(arguments.text()) {
        Ok(Value::Object(sent)) => sent,
        _ => Map::new(),
    };
    let mut pairs = Vec::with_capacity(sent.len());
    arguments.each_parameter(&mut |name, default| {
        let value = sent.remove(name);
        let value = value.as_ref().filter(|value| !value.is_null());
        pairs.push(pair(key, name, value.or(default).unwrap_or(&Value::Null)));
    });
    let rest = sent.iter().map(|(name, value)| pair(key, name, value));
    pairs.extend(rest);
    let further = sent.into_iter().map(|(name, _)| name).collect();
    (pairs.len() <= MOST).then(|| Digest {
        pairs: pairs.into(),
        further,
    })
}

pub(super) fn pair(key: &RandomState, name: &str, value: &Value) -> u64 {
    let mut hasher = key.build_hasher();
    name.hash(&mut hasher);
    add(key, value, &mut hasher);
    hasher.finish()
}

fn add(key: &RandomState, value: &Value, hasher: &mut impl Hasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Null => {}
        Value::Bool(value) => value.hash(hasher),
        Value::Number(number) => add_number(number, hasher),
        Value::String(text) => text.hash(hasher),
        Value::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                add(key, item, hasher);
            }
        }
        // The order of members says nothing.
        Value::Object(members) => {
            let each = members.iter().map(|(name, value)| pair(key, name, value));
            each.fold(0, u64::wrapping_add).hash(hasher);
        }
    }
}

/// `5` and `5.0` are one number.
#[allow(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "only whole numbers within the range of `i64` are taken as such"
)]
fn add_number(number: &Number, hasher: &mut impl Hasher) {
    const BOUND: f64 = 9.0e18;
    if let Some(whole) = number.as_i64() {
        return whole.hash(hasher);
    }
    match (number.as_u64(), number.as_f64()) {
        (Some(whole), _) => whole.hash(hasher),
        (None, Some(float)) if float.trunc() == float && float.abs() < BOUND => {
            (float as i64).hash(hasher);
        }
        (None, float) => float.map(f64::to_bits).hash(hasher),
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
