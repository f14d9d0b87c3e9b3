//! Canonical form of arguments, to compare them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The longest arguments, in bytes, that are compared by what they mean.
const LONGEST: usize = 64 * 1024;

/// Arguments without what does not matter: white space, escapes in strings, and the order of keys.
///
/// Numbers that a float cannot tell apart, and keys that are given twice, are told apart by the characters that are there.
/// Long ones are told apart as they were written, and only their hash is kept.
#[must_use]
pub fn canonical(arguments: &str) -> String {
    if arguments.len() > LONGEST {
        let mut hasher = DefaultHasher::new();
        arguments.hash(&mut hasher);
        return format!("{} bytes, {:x}", arguments.len(), hasher.finish());
    }
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(arguments) else {
        return arguments.trim().to_owned();
    };
    value.sort_all_objects();
    let mut characters: Vec<char> = unescaped(arguments)
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    characters.sort_unstable();
    format!("{value} {}", characters.into_iter().collect::<String>())
}

/// JSON whose strings are written in the one shortest way.
fn unescaped(json: &str) -> String {
    if !json.contains('\\') {
        return json.to_owned();
    }
    let (mut written, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(start) = rest.find('"') {
        let (before, from) = rest.split_at(start);
        written.push_str(before);
        let mut strings = serde_json::Deserializer::from_str(from).into_iter::<String>();
        let Some(Ok(string)) = strings.next() else {
            break;
        };
        written.push_str(&serde_json::Value::from(string).to_string());
        rest = from.get(strings.byte_offset()..).unwrap_or_default();
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn what_means_the_same_is_the_same() {
        let one = canonical(r#"{"to":"ada","of":{"é":"\"\n"}}"#);
        let other = canonical(r#" { "of" : {"\u00e9":"\u0022\u000a"}, "to":"\u0061d\u0061" }"#);
        assert_eq!(one, other);
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_not() {
        for (one, other) in [
            (r#"{"a":"\u0061"}"#, r#"{"a":"\\u0061"}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#),
            (r#"{"a":"x","a":"y"}"#, r#"{"a":"\u007a","a":"y"}"#),
            ("18446744073709551617", "18446744073709551618"),
        ] {
            assert_ne!(canonical(one), canonical(other), "{one} {other}");
        }
    }
}
