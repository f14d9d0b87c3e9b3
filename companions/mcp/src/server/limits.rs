use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What a server grants to its clients, however many they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) calls: usize,
    pub(super) connections: usize,
    pub(super) sessions: usize,
    pub(super) message_bytes: usize,
    pub(super) patience: Duration,
    pub(super) grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 256,
            connections: 256,
            sessions: 64,
            message_bytes: 4 << 20,
            patience: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }
}

/// Places for calls that run at once.
#[derive(Debug, Default)]
pub(super) struct Places(Arc<AtomicUsize>);

impl Places {
    pub(super) fn take(&self, limit: usize) -> Option<Place> {
        let place = Place(Arc::clone(&self.0));
        (self.0.fetch_add(1, Ordering::Relaxed) < limit).then_some(place)
    }
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
