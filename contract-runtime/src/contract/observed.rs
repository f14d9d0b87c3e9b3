//! The violations of one call that did not end it.

use super::violation::Violation;

/// The most of them; a condition in a loop must not fill the memory.
const MOST: usize = 100;

/// The most bytes of their values: each has those of all parameters that it names, and several may name a large one.
const MOST_BYTES: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Observed {
    all: Vec<Violation>,
    bytes: usize,
}

impl Observed {
    /// Adds one, with its long values cut where there are too many of them.
    pub(super) fn add(&mut self, mut violation: Violation) {
        if self.all.len() == MOST {
            return;
        }
        let bytes = self.bytes.saturating_add(violation.size_of_values());
        if bytes > MOST_BYTES {
            violation.shorten_values();
        } else {
            self.bytes = bytes;
        }
        self.all.push(violation);
    }

    pub(super) fn take(&mut self) -> Vec<Violation> {
        self.bytes = 0;
        std::mem::take(&mut self.all)
    }
}
