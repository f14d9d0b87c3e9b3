//! The interface of leases, by which backends know of each other whether they run.

use std::fmt;
use std::time::Duration;

use super::StoreFuture;

/// Says which backends run; implemented by Redis and in the simulation.
pub(crate) trait Leases: fmt::Debug + Send + Sync {
    /// Says for a while that a backend runs; whether it does as this process, and not as another.
    ///
    /// To be renewed in less than `time`.
    fn announce<'s>(
        &'s self,
        backend: &'s str,
        process: &'s str,
        time: Duration,
    ) -> StoreFuture<'s, bool>;

    /// Says that a backend does not run as this process any more.
    fn withdraw<'s>(&'s self, backend: &'s str, process: &'s str) -> StoreFuture<'s, ()>;

    /// Returns the process that runs as a backend, if any.
    fn announced<'s>(&'s self, backend: &'s str) -> StoreFuture<'s, Option<String>>;
}
