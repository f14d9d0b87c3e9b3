//! A bounded list of refused tools.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher as _;

use super::text;
use crate::protocol::Refusal;

/// How many are listed, so that a hostile handshake does not determine the size of the answer.
const MAX_LISTED: usize = 100;

/// The refused tools of a handshake.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// The first by name, with the reason.
    first: BTreeSet<(String, String)>,
    /// All of them, as hashes: there may be millions.
    all: HashSet<u64>,
    hasher: RandomState,
}

impl Refusals {
    pub(super) fn add(&mut self, name: &str, reason: String) {
        let one = (text::sanitize(name, 64), reason);
        if self.all.insert(self.hasher.hash_one(&one)) {
            self.first.insert(one);
            if self.first.len() > MAX_LISTED {
                self.first.pop_last();
            }
        }
    }

    pub(super) fn into_list(self) -> Vec<Refusal> {
        let more = self.all.len() - self.first.len();
        let first = self.first.into_iter();
        let mut listed: Vec<_> = first
            .map(|(name, reason)| Refusal { name, reason })
            .collect();
        if more > 0 {
            listed.push(Refusal {
                name: String::new(),
                reason: format!("and {more} more"),
            });
        }
        listed
    }
}
