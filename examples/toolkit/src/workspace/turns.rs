//! One writer of a file at a time.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Two files may share a turn, which costs time and nothing else.
const TURNS: usize = 64;

/// Lets the tools of this workspace change a file one after the other, so that what one has read is still there when it
/// writes. Other processes are not held up.
#[derive(Debug)]
pub(crate) struct Turns([Mutex<()>; TURNS]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Turns {
    /// Waits until nobody else of this workspace changes the file; a file is a name in a folder, which is known by its
    /// device and number.
    pub(crate) fn take(&self, file: impl Hash) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        file.hash(&mut hasher);
        let turn = usize::try_from(hasher.finish() % TURNS as u64).unwrap_or(0);
        // What a writer leaves behind that panicked is one whole version, as always.
        self.0[turn].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
