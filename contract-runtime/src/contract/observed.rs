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
    /// Adds one. It shares values with those before it; what is its own is cut where there is too much of that.
    pub(super) fn add(&mut self, mut violation: Violation) {
        if self.all.len() == MOST {
            return;
        }
        for before in &self.all {
            violation.values.share_with(&before.values);
        }
        let bytes = self.bytes.saturating_add(violation.values.own_bytes());
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

/// The same violations as they are written down, where values cannot be shared: each whole as long as there is room for all.
#[must_use]
pub fn written(observed: &[Violation]) -> Vec<Violation> {
    let mut bytes = 0_usize;
    let one = |violation: &Violation| {
        let mut violation = violation.clone();
        let with = bytes.saturating_add(violation.values.bytes());
        if with > MOST_BYTES {
            violation.shorten_values();
        } else {
            bytes = with;
        }
        violation
    };
    observed.iter().map(one).collect()
}
