use std::collections::VecDeque;
use std::sync::Arc;

use super::Calls;
use crate::remote::protocol::CallKey;
use crate::remote::store::StoreError;
use crate::remote::store::ledger::{Ended, Ending};

/// Calls of a task that are kept after their end, so that people can look at them: ten runs of 100 steps.
pub(super) const KEPT: usize = 1_000;

/// Bytes of them, in the store: a few of the largest results. Whoever opens the task again reads them all.
const KEPT_BYTES: usize = 64 << 20;

/// How many more there may be before the store is asked to drop some, so that not every end costs a write.
pub(super) const SPARE: usize = 100;

/// What is kept of calls that have ended, the oldest first.
///
/// An end that is told after its call was dropped finds no such call: it is acknowledged, and changes nothing.
#[derive(Debug, Default)]
pub(super) struct Past {
    calls: VecDeque<Ended>,
    bytes: usize,
}

impl Past {
    pub(super) fn new(calls: Vec<Ended>) -> Self {
        let bytes = calls.iter().map(|call| call.bytes).sum();
        let calls = calls.into();
        Self { calls, bytes }
    }

    fn knows(&self, key: CallKey) -> bool {
        self.calls.iter().rev().any(|call| call.key == key)
    }

    fn add(&mut self, call: Ended) {
        self.bytes += call.bytes;
        self.calls.push_back(call);
    }

    /// The oldest, when there are too many.
    fn take_due(&mut self) -> Vec<Ended> {
        let mut due = Vec::new();
        if self.calls.len() <= KEPT + SPARE && self.bytes <= KEPT_BYTES {
            return due;
        }
        // Under large ones there is room again for some more.
        while self.calls.len() > KEPT || self.bytes > KEPT_BYTES / 2 {
            let Some(oldest) = self.calls.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes;
            due.push(oldest);
        }
        due
    }

    /// They could not be dropped.
    fn put_back(&mut self, due: Vec<Ended>) {
        for call in due.into_iter().rev() {
            self.bytes += call.bytes;
            self.calls.push_front(call);
        }
    }
}

impl Calls {
    /// Writes down how a call ended; the first end stands. The oldest ones are dropped that have ended.
    pub(super) async fn end(
        self: &Arc<Self>,
        key: CallKey,
        call_bytes: usize,
        ending: &Ending,
    ) -> Result<(), StoreError> {
        if !self.may_end(key, ending).await? {
            return Ok(());
        }
        let written = self.ledger.end_call(key, ending).await?;
        let due = {
            let mut state = self.state();
            // Two ends of one call may be on their way, and the one that stands may not have been confirmed.
            if !state.past.knows(key) {
                let bytes = call_bytes + written.unwrap_or(0);
                state.past.add(Ended { key, bytes });
            }
            state.past.take_due()
        };
        if !due.is_empty() {
            let calls = Arc::clone(self);
            tokio::spawn(async move { calls.drop_past(due).await });
        }
        Ok(())
    }

    /// What an earlier process has left of calls that ended.
    pub(super) fn remember(self: &Arc<Self>, ended: Vec<Ended>) {
        let mut past = Past::new(ended);
        let due = past.take_due();
        self.state().past = past;
        if !due.is_empty() {
            let calls = Arc::clone(self);
            tokio::spawn(async move { calls.drop_past(due).await });
        }
    }

    async fn drop_past(&self, mut due: Vec<Ended>) {
        // A store that was filled before is not asked for everything at once.
        while !due.is_empty() {
            let some = due.iter().take(SPARE).map(|call| call.key);
            let some: Vec<CallKey> = some.collect();
            if let Err(error) = self.ledger.drop_calls(&some).await {
                // The next end tries again.
                tracing::debug!(%error, "calls that have ended could not be dropped");
                return self.state().past.put_back(due);
            }
            due.drain(..some.len());
        }
    }
}
