//! A seeded random number generator.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Chance that a seed repeats (`SplitMix64`: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014).
#[derive(Clone, Debug)]
pub(super) struct Rng(Arc<Mutex<u64>>);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed)))
    }

    fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = *state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns an independent generator, so that drawing more numbers from one does not affect others.
    pub(super) fn fork(&self) -> Self {
        Self::new(self.next())
    }

    /// From 0 to one less than `end`.
    pub(super) fn below(&self, end: u64) -> u64 {
        self.next() % end
    }

    /// Once in this many times.
    pub(super) fn once_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(super) fn millis(&self, most: u64) -> Duration {
        Duration::from_millis(self.below(most + 1))
    }
}
