//! A hash of a call's tool name and arguments, to recognise a repeated request.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Whether two requests under one key are the same request: SHA-256 of the tool and of its arguments with sorted keys.
///
/// Numbers are compared as text, so that `1` and `1.0` are two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArgumentsHash(pub(super) [u8; 32]);

impl ArgumentsHash {
    pub(crate) fn of(tool_name: &str, parameters: &Value) -> Self {
        let mut sorted = parameters.clone();
        sorted.sort_all_objects();
        let mut hasher = Sha256::new();
        // The length keeps a name from running into what follows it.
        hasher.update((tool_name.len() as u64).to_le_bytes());
        hasher.update(tool_name);
        hasher.update(sorted.to_string());
        Self(hasher.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ArgumentsHash;

    #[test]
    fn order_of_keys_does_not_matter_and_all_else_does() {
        let hash = |tool, value: serde_json::Value| ArgumentsHash::of(tool, &value);
        let one = hash("put", json!({"a": {"x": 1, "y": [1, 2]}, "b": 2}));
        assert_eq!(
            one,
            hash("put", json!({"b": 2, "a": {"y": [1, 2], "x": 1}}))
        );
        let others = [
            hash("pu", json!({"a": {"x": 1, "y": [1, 2]}, "b": 2})),
            hash("put", json!({"a": {"x": 1, "y": [2, 1]}, "b": 2})),
            hash("put", json!({"a": {"x": 1, "y": [1, 2]}, "b": 2.0})),
            hash("put", json!({"a": {"x": 1, "y": [1, 2]}})),
            hash("put", json!({"a": {"x": 1, "y": [1, 2], "b": 2}})),
            hash("put", json!({"a": {"x": "1", "y": [1, 2]}, "b": 2})),
        ];
        for (place, other) in others.iter().enumerate() {
            assert_ne!(&one, other, "number {place}");
            assert!(!others[..place].contains(other), "number {place}");
        }
    }

    #[test]
    fn is_the_same_in_every_build() {
        // `printf '\x03\0\0\0\0\0\0\0put{"a":1}' | sha256sum`
        let told = ArgumentsHash::of("put", &json!({"a": 1})).0;
        let judge = "8afaeee43451fb947a11f0b422b1c6390c33948e39237e70af444de1f694625a";
        let bytes = (0..64)
            .step_by(2)
            .map(|at| u8::from_str_radix(&judge[at..at + 2], 16));
        assert_eq!(Ok(told.to_vec()), bytes.collect());
    }
}
