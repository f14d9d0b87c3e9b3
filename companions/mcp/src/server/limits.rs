//! The limits of a server, its settings over HTTP, and permits for concurrent calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(feature = "http")]
use contract_http::OriginCheck;

#[cfg(feature = "http")]
use super::auth::{Authorizer, ResourceMetadata};

/// The limits of a server, across all clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) calls: usize,
    pub(super) message_bytes: usize,
    pub(super) patience: Duration,
    pub(super) grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 256,
            message_bytes: 4 << 20,
            patience: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }
}

/// The settings of a server that concern HTTP alone.
#[cfg(feature = "http")]
#[derive(Clone)]
pub(super) struct HttpSettings {
    pub(super) origin_check: OriginCheck,
    pub(super) authorizer: Option<Authorizer>,
    pub(super) metadata: Option<ResourceMetadata>,
    pub(super) connections: usize,
    pub(super) sessions: usize,
    pub(super) kept_bytes: usize,
}

#[cfg(feature = "http")]
impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            origin_check: OriginCheck::loopback(),
            authorizer: None,
            metadata: None,
            connections: 256,
            sessions: 64,
            kept_bytes: 64 << 20,
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
