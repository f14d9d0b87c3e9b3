use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// What executors are told when the backend goes.
pub(super) const LEAVING: &str = "the backend is shutting down; dial again in 5 seconds";

/// [`LEAVING`], for those who ask to be let in.
pub(super) const COME_BACK: u64 = 5;

/// How long executors may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// Which ways in are open, and what is still under way behind them.
#[derive(Debug, Default)]
pub(super) struct Doors {
    /// Every connection ends, and says [`LEAVING`].
    pub(super) leaving: CancellationToken,
    /// Nobody is let in any more.
    pub(super) gone: CancellationToken,
    /// Connections that are past their upgrade.
    pub(super) lines: TaskTracker,
    calls: TaskTracker,
    closed: AtomicBool,
}

/// A call that is under way, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Pass(#[expect(dead_code, reason = "counts while it lives")] TaskTrackerToken);

impl Doors {
    /// Begins a call; `None` once the backend is shutting down.
    pub(super) fn call(&self) -> Option<Pass> {
        // Counted before the question, so that a shutdown which was not seen here waits for it.
        let pass = Pass(self.calls.token());
        (!self.closed()).then_some(pass)
    }

    pub(super) fn open_calls(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Closes the doors, waits for calls as long as `drain`, and then sends the executors away.
    pub(super) async fn close(&self, drain: Duration) {
        self.closed.store(true, Ordering::SeqCst);
        self.calls.close();
        self.lines.close();
        if timeout(drain, self.calls.wait()).await.is_err() {
            let open = self.open_calls();
            tracing::warn!(
                open,
                "calls are still open; their executors keep the results"
            );
        }
        self.leaving.cancel();
        // Whoever is not gone then is cut off.
        let _ = timeout(GOODBYE, self.lines.wait()).await;
    }
}
