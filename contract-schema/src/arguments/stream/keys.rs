//! The keys of one object that no property names, to find equal ones.

use std::collections::HashSet;

use super::Stop;

/// Below this many keys, comparing each with each is faster than a set.
const FEW: usize = 8;

pub(super) enum Keys<'t> {
    Few([&'t str; FEW], usize),
    Many(HashSet<&'t str, foldhash::fast::RandomState>),
}

impl<'t> Keys<'t> {
    pub(super) const NONE: Self = Self::Few([""; FEW], 0);

    /// Adds a key that must not be there yet.
    pub(super) fn add(&mut self, key: &'t str) -> Result<(), Stop> {
        let is_new = match self {
            Self::Few(keys, count) => {
                let known = keys.get(..*count).unwrap_or_default();
                let is_new = !known.contains(&key);
                if let Some(place) = keys.get_mut(*count) {
                    *place = key;
                    *count += 1;
                } else {
                    *self = Self::Many(keys.iter().copied().chain([key]).collect());
                }
                is_new
            }
            Self::Many(keys) => keys.insert(key),
        };
        if is_new { Ok(()) } else { Err(Stop::Undecided) }
    }
}
