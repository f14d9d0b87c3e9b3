//! Canonical form of arguments, to compare them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::schema::json_text;

/// The longest arguments, in bytes, that are compared by what they mean.
const LONGEST: usize = 64 * 1024;

/// One text for all arguments that mean the same, whatever their white space, their escapes and the order of their keys.
///
/// No digit of a number is lost. Of arguments that are longer than 64 kB, or that are not JSON, equal texts alone are equal; of
/// long ones only a hash is kept.
#[must_use]
pub fn canonical(arguments: &str) -> String {
    if arguments.len() > LONGEST {
        let mut hasher = DefaultHasher::new();
        arguments.hash(&mut hasher);
        return format!("{} bytes, {:x}", arguments.len(), hasher.finish());
    }
    json_text::canonical(arguments).unwrap_or_else(|| arguments.trim().to_owned())
}
