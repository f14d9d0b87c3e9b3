//! Canonical form of arguments, to compare them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The longest arguments, in bytes, that are compared by what they mean.
const LONGEST: usize = 64 * 1024;

/// Arguments without what does not matter: white space, and the order of keys.
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
    let mut characters: Vec<char> = arguments.chars().filter(|c| !c.is_whitespace()).collect();
    characters.sort_unstable();
    format!("{value} {}", characters.into_iter().collect::<String>())
}
