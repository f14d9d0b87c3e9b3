//! Graceful shutdown: accepts no more calls and drains the running ones.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::time::Duration;

use contract_runtime::CancellationToken;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::protocol::CallKey;

/// How long cancelled calls have to end, and the backend to acknowledge the last results; these are in the journal all
/// the same.
const LAST_ACKS_TIMEOUT: Duration = Duration::from_secs(2);

/// Tracks the calls of an executor, and drains them: no more are admitted, and the running ones end.
#[derive(Debug, Default)]
pub(super) struct Drain {
    draining: CancellationToken,
    /// Running calls, and calls whose end is not acknowledged.
    calls: Mutex<Calls>,
    changed: watch::Sender<()>,
    /// Cancels the calls, but not the connection that reports their ends.
    cancel_calls: OnceLock<CancellationToken>,
}

#[derive(Debug, Default)]
struct Calls {
    running: usize,
    unacknowledged: HashSet<CallKey>,
}

impl Drain {
    /// Admits a call; `false` while draining. The backend then sends it again to the next executor that connects.
    pub(super) fn admit(&self, key: CallKey) -> bool {
        let mut calls = self.calls.lock();
        // Under the lock: a drain has seen every call that was admitted.
        if self.draining.is_cancelled() {
            return false;
        }
        calls.running += 1;
        calls.unacknowledged.insert(key);
        true
    }

    pub(super) fn call_ended(&self) {
        self.calls.lock().running -= 1;
        self.changed.send_replace(());
    }

    pub(super) fn call_acknowledged(&self, key: CallKey) {
        self.calls.lock().unacknowledged.remove(&key);
        self.changed.send_replace(());
    }

    /// Returns the token that cancels a call: when the executor stops, when a drain times out, or on request.
    pub(super) fn cancellation(&self, stop: &CancellationToken) -> CancellationToken {
        self.cancel_calls
            .get_or_init(|| stop.child_token())
            .child_token()
    }

    /// Admits no more calls, and waits up to `drain` for the running ones; then cancels them.
    pub(super) async fn run(&self, drain: Duration) {
        {
            let _calls = self.calls.lock();
            self.draining.cancel();
        }
        let idle = timeout(drain, self.wait_until(|calls| calls.running == 0)).await;
        if let (Err(_), Some(cancel_calls)) = (idle, self.cancel_calls.get()) {
            cancel_calls.cancel();
        }
        self.wait_for_acks().await;
    }

    /// Waits until the running calls have ended and their ends are acknowledged.
    pub(super) async fn wait_until_idle(&self) {
        self.wait_until(|calls| calls.running == 0).await;
        self.wait_for_acks().await;
    }

    async fn wait_for_acks(&self) {
        let known = self.wait_until(|calls| calls.running == 0 && calls.unacknowledged.is_empty());
        let _ = timeout(LAST_ACKS_TIMEOUT, known).await;
    }

    async fn wait_until(&self, is_so: impl Fn(&Calls) -> bool) {
        let mut changed = self.changed.subscribe();
        // Its sender is part of this value.
        let _ = changed.wait_for(|()| is_so(&self.calls.lock())).await;
    }
}
