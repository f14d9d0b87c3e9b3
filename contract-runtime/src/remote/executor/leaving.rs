use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::remote::protocol::CallKey;

/// How long calls that were cancelled have to end, and the backend to say that it knows the last results; these are in the
/// journal all the same.
const LAST: Duration = Duration::from_secs(2);

/// An executor on its way out: it takes no more calls, and those that it has come to their end.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    leaves: CancellationToken,
    /// Calls that run, and calls whose end the backend does not know.
    calls: Mutex<Calls>,
    changed: watch::Sender<()>,
    /// Cancels the calls, and leaves the connection to tell of it.
    stop: OnceLock<CancellationToken>,
}

#[derive(Debug, Default)]
struct Calls {
    running: usize,
    unheard: HashSet<CallKey>,
}

impl Leaving {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call; `false` when none is taken any more. It is then as if it had never come: the backend sends it again to
    /// whoever dials in next.
    pub(super) fn takes(&self, key: CallKey) -> bool {
        let mut calls = self.calls();
        // Under the lock: who leaves has seen every call that was taken.
        if self.leaves.is_cancelled() {
            return false;
        }
        calls.running += 1;
        calls.unheard.insert(key);
        true
    }

    pub(super) fn ended(&self) {
        self.calls().running -= 1;
        self.changed.send_replace(());
    }

    pub(super) fn heard(&self, key: CallKey) {
        self.calls().unheard.remove(&key);
        self.changed.send_replace(());
    }

    /// What cancels a call: the end of everything, or its own, or that it took too long for one who leaves.
    pub(super) fn token(&self, over: &CancellationToken) -> CancellationToken {
        self.stop.get_or_init(|| over.child_token()).child_token()
    }

    /// Takes no more calls, and waits until those that run have ended, at most so long; then they are cancelled.
    pub(super) async fn leave(&self, drain: Duration) {
        {
            let _calls = self.calls();
            self.leaves.cancel();
        }
        let idle = timeout(drain, self.until(|calls| calls.running == 0)).await;
        if let (Err(_), Some(stop)) = (idle, self.stop.get()) {
            stop.cancel();
        }
        let known = self.until(|calls| calls.running == 0 && calls.unheard.is_empty());
        let _ = timeout(LAST, known).await;
    }

    async fn until(&self, is_so: impl Fn(&Calls) -> bool) {
        let mut changed = self.changed.subscribe();
        // Its sender is part of this value.
        let _ = changed.wait_for(|()| is_so(&self.calls())).await;
    }
}
