use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher as _;

use super::text;
use crate::remote::protocol::Refusal;

/// How many are listed; a hostile handshake does not decide how long the answer is.
const LISTED: usize = 100;

/// What is not taken of a handshake.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// The first by name, with the reason.
    first: BTreeSet<(String, String)>,
    /// Every one, as a hash: there may be millions.
    all: HashSet<u64>,
    hasher: RandomState,
}

impl Refusals {
    pub(super) fn note(&mut self, name: &str, reason: String) {
        let one = (text::shown(name, 64), reason);
        if self.all.insert(self.hasher.hash_one(&one)) {
            self.first.insert(one);
            if self.first.len() > LISTED {
                self.first.pop_last();
            }
        }
    }

    pub(super) fn listed(self) -> Vec<Refusal> {
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
