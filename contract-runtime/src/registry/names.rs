//! Finds tools by name: a hash table of their places, which keeps no name a second time.

use std::hash::{BuildHasher as _, Hasher as _};

use super::entry::Entry;

/// A table of twice as many places as there are tools at least, in which a name that is taken goes to the next place.
#[derive(Debug)]
pub(super) struct Names {
    places: Box<[u32]>,
    state: foldhash::fast::RandomState,
}

/// No tool.
const EMPTY: u32 = u32::MAX;

impl Names {
    pub(super) fn new(entries: &[Entry]) -> Self {
        let size = (entries.len() * 2).next_power_of_two();
        let mut names = Self {
            places: vec![EMPTY; size].into_boxed_slice(),
            state: foldhash::fast::RandomState::default(),
        };
        for (index, entry) in (0_u32..).zip(entries) {
            let mut place = names.begin(entry.tool.name());
            while names.places[place] != EMPTY {
                place = names.behind(place);
            }
            names.places[place] = index;
        }
        names
    }

    #[inline]
    pub(super) fn find(&self, name: &str, entries: &[Entry]) -> Option<usize> {
        let mut place = self.begin(name);
        loop {
            let index = self.places[place] as usize;
            if entries.get(index)?.tool.name() == name {
                return Some(index);
            }
            place = self.behind(place);
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the low bits of a hash are a hash"
    )]
    fn begin(&self, name: &str) -> usize {
        let mut hasher = self.state.build_hasher();
        // Without the end of a string, which only a key of several parts needs.
        hasher.write(name.as_bytes());
        hasher.finish() as usize & (self.places.len() - 1)
    }

    fn behind(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }
}
