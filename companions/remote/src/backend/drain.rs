//! Graceful shutdown: tracks calls and connections, and drains them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The close reason of a shutdown.
pub(super) const SHUTTING_DOWN: &str = "the backend is shutting down; reconnect in 5 seconds";

/// The `Retry-After` of a shutdown, in seconds.
pub(super) const RETRY_AFTER_SECONDS: u64 = 5;

/// How long connections may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the backend is draining, and what is still in flight.
#[derive(Debug, Default)]
pub(super) struct Drain {
    /// Cancelled when connections are to close with [`SHUTTING_DOWN`].
    pub(super) shutdown: CancellationToken,
    /// Cancelled when the listener has stopped.
    pub(super) stopped: CancellationToken,
    /// Upgraded connections.
    pub(super) connections: TaskTracker,
    calls: TaskTracker,
    draining: AtomicBool,
}

/// A call in flight, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct CallGuard(
    #[expect(dead_code, reason = "counts while it lives")] TaskTrackerToken,
);

impl Drain {
    /// Begins a call; `None` once the backend is shutting down.
    pub(super) fn begin_call(&self) -> Option<CallGuard> {
        // Counted before the check, so that a concurrent shutdown waits for this call.
        let guard = CallGuard(self.calls.token());
        (!self.is_draining()).then_some(guard)
    }

    pub(super) fn calls_in_flight(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// Accepts nothing more, waits up to `drain` for calls to end, and then closes the connections.
    pub(super) async fn run(&self, drain: Duration) {
        self.draining.store(true, Ordering::SeqCst);
        self.calls.close();
        self.connections.close();
        if timeout(drain, self.calls.wait()).await.is_err() {
            let open = self.calls_in_flight();
            tracing::warn!(
                open,
                "calls are still open; their executors keep the results"
            );
        }
        self.shutdown.cancel();
        // Connections that are still open then are dropped.
        let _ = timeout(CLOSE_TIMEOUT, self.connections.wait()).await;
    }
}
