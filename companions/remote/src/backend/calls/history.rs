//! Ended calls: recording outcomes, and pruning the oldest.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Calls;
use crate::protocol::CallKey;
use crate::store::StoreError;
use crate::store::task_store::{EndedCall, Ending};

/// How many ended calls of a task are kept for inspection: ten runs of 100 steps.
pub(super) const MAX_CALLS: usize = 1_000;

/// Their bytes in the store: a few of the largest results. Reopening the task reads them all.
const MAX_BYTES: usize = 64 << 20;

/// How many are pruned at once, so that not every end costs another write.
pub(super) const PRUNE_BATCH: usize = 100;

/// The ended calls that are kept, oldest first.
///
/// An end that arrives after its call was pruned finds no such call: it is acknowledged, and changes nothing.
#[derive(Debug, Default)]
pub(super) struct History {
    calls: VecDeque<EndedCall>,
    bytes: usize,
}

impl History {
    pub(super) fn new(calls: Vec<EndedCall>) -> Self {
        let bytes = calls.iter().map(|call| call.bytes).sum();
        let calls = calls.into();
        Self { calls, bytes }
    }

    fn contains(&self, key: CallKey) -> bool {
        self.calls.iter().rev().any(|call| call.key == key)
    }

    fn add(&mut self, call: EndedCall) {
        self.bytes += call.bytes;
        self.calls.push_back(call);
    }

    /// Takes the oldest, if there are too many.
    fn take_excess(&mut self) -> Vec<EndedCall> {
        let mut due = Vec::new();
        if self.calls.len() <= MAX_CALLS + PRUNE_BATCH && self.bytes <= MAX_BYTES {
            return due;
        }
        // Down to half of the bytes, so that there is room for some more large ones.
        while self.calls.len() > MAX_CALLS || self.bytes > MAX_BYTES / 2 {
            let Some(oldest) = self.calls.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes;
            due.push(oldest);
        }
        due
    }

    /// Puts calls back that could not be pruned.
    fn put_back(&mut self, due: Vec<EndedCall>) {
        for call in due.into_iter().rev() {
            self.bytes += call.bytes;
            self.calls.push_front(call);
        }
    }
}

impl Calls {
    /// Stores how a call ended; the first end stands. Then prunes the oldest ended calls.
    pub(super) async fn record_end(
        self: &Arc<Self>,
        key: CallKey,
        call_bytes: usize,
        ending: &Ending,
    ) -> Result<(), StoreError> {
        if !self.may_end(key, ending).await? {
            return Ok(());
        }
        let written = self.task_store.end_call(key, ending).await?;
        let due = {
            let mut state = self.state();
            // Two ends of one call may be in flight, and the write that won may not have been confirmed.
            if !state.history.contains(key) {
                let bytes = call_bytes + written.unwrap_or(0);
                state.history.add(EndedCall { key, bytes });
            }
            state.history.take_excess()
        };
        if !due.is_empty() {
            let calls = Arc::clone(self);
            tokio::spawn(async move { calls.prune(due).await });
        }
        Ok(())
    }

    /// Loads the ended calls that an earlier process stored.
    pub(super) fn load_history(self: &Arc<Self>, ended: Vec<EndedCall>) {
        let mut history = History::new(ended);
        let due = history.take_excess();
        self.state().history = history;
        if !due.is_empty() {
            let calls = Arc::clone(self);
            tokio::spawn(async move { calls.prune(due).await });
        }
    }

    async fn prune(&self, mut due: Vec<EndedCall>) {
        // In batches: an earlier process may have left many.
        while !due.is_empty() {
            let some = due.iter().take(PRUNE_BATCH).map(|call| call.key);
            let some: Vec<CallKey> = some.collect();
            if let Err(error) = self.task_store.drop_calls(&some).await {
                // The next end tries again.
                tracing::debug!(%error, "calls that have ended could not be dropped");
                return self.state().history.put_back(due);
            }
            due.drain(..some.len());
        }
    }
}
