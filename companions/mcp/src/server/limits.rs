//! The limits of a server, and permits for concurrent calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The limits of a server, across all clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) calls: usize,
    pub(super) connections: usize,
    pub(super) sessions: usize,
    pub(super) message_bytes: usize,
    pub(super) kept_bytes: usize,
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
            kept_bytes: 64 << 20,
            patience: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }
}

/// Permits for calls that run at once.
#[derive(Clone, Debug, Default)]
pub(super) struct CallPermits(Arc<AtomicUsize>);

impl CallPermits {
    pub(super) fn try_acquire(&self, limit: usize) -> Option<CallPermit> {
        let permit = CallPermit(Arc::clone(&self.0));
        (self.0.fetch_add(1, Ordering::Relaxed) < limit).then_some(permit)
    }

    /// Lets another call have the place of one that waits for a person, until the result is dropped.
    pub(super) fn lend(&self) -> impl Drop + use<> {
        struct Lent(Arc<AtomicUsize>);
        impl Drop for Lent {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.0.fetch_sub(1, Ordering::Relaxed);
        Lent(Arc::clone(&self.0))
    }
}

/// A permit, which is returned when it is dropped.
#[derive(Debug)]
pub(super) struct CallPermit(Arc<AtomicUsize>);

impl Drop for CallPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
