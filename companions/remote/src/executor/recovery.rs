//! Recovery from an unwritable journal: until it can be written, no call runs and the executor is detached.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};

use contract_runtime::CancellationToken;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::call_table::CallTable;
use super::{EventCallback, Executor, ExecutorEvent};
use crate::RemoteError;
use crate::journal::JournalError;
use crate::protocol::{CallKey, ToolReply};

/// What is known of calls while the journal cannot be used.
pub(super) struct Outage {
    on_event: EventCallback,
    failure: watch::Sender<Option<JournalError>>,
    /// How often the journal has failed since it last recorded an end.
    times: AtomicU32,
    /// Ends that are not in the journal yet.
    unwritten: Mutex<Vec<ToolReply>>,
    /// The calls of the last handshake: only the journal knows the state of those that are not running here.
    reported: Mutex<HashSet<CallKey>>,
}

impl std::fmt::Debug for Outage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outage")
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

impl Outage {
    pub(super) fn new(on_event: EventCallback) -> Self {
        Self {
            on_event,
            failure: watch::Sender::new(None),
            times: AtomicU32::new(0),
            unwritten: Mutex::default(),
            reported: Mutex::default(),
        }
    }

    /// Keeps an end until the journal can be written again.
    pub(super) fn keep(&self, reply: ToolReply) {
        self.unwritten.lock().push(reply);
    }

    /// Returns an end that is kept here.
    pub(super) fn kept_reply(&self, key: CallKey) -> Option<ToolReply> {
        let unwritten = self.unwritten.lock();
        unwritten.iter().find(|reply| reply.key == key).cloned()
    }

    fn next_kept_reply(&self) -> Option<ToolReply> {
        self.unwritten.lock().first().cloned()
    }

    /// Sets the calls of the last handshake.
    pub(super) fn set_reported(&self, keys: HashSet<CallKey>) {
        *self.reported.lock() = keys;
    }

    /// Whether the last handshake reported a call.
    pub(super) fn was_reported(&self, key: CallKey) -> bool {
        self.reported.lock().contains(&key)
    }

    /// Resets the failure count: the journal has recorded an end.
    pub(super) fn reset(&self) {
        self.times.store(0, Ordering::Relaxed);
    }

    fn count_failure(&self) -> u32 {
        self.times.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }
}

impl CallTable {
    /// Records an error that stops the journal; ignores any other one.
    pub(super) fn record_failure(&self, error: &JournalError) {
        if !matches!(error, JournalError::Stopped { .. }) {
            return;
        }
        let is_new = self.outage.failure.send_if_modified(|failure| {
            let is_new = failure.is_none();
            failure.get_or_insert_with(|| error.clone());
            is_new
        });
        if is_new {
            tracing::error!(task = %self.task(), %error, "no call is run until the journal can be written again");
            let error = error.clone();
            (self.outage.on_event)(ExecutorEvent::JournalFailed { error });
        }
    }

    /// Returns why the journal cannot be written.
    pub(super) fn failure(&self) -> Option<JournalError> {
        self.outage.failure.borrow().clone()
    }

    /// Waits until the journal has failed and the running calls have ended and are acknowledged; returns the close reason.
    pub(super) async fn wait_for_failure(&self) -> String {
        let mut failure = self.outage.failure.subscribe();
        // Its sender is part of this value.
        let _ = failure.wait_for(Option::is_some).await;
        self.drain.wait_until_idle().await;
        match self.failure() {
            Some(JournalError::Stopped { reason, .. }) => {
                format!("the executor's journal cannot be written: {reason}")
            }
            _ => "the executor's journal cannot be written".to_owned(),
        }
    }

    /// Reopens the journal, and writes the ends that it has missed.
    async fn reopen(&self) -> Result<(), JournalError> {
        let journal = self.journal.clone();
        let reopened = tokio::task::spawn_blocking(move || journal.reopen()).await;
        match reopened {
            Ok(reopened) => reopened?,
            // The runtime is shutting down.
            Err(_) => std::future::pending().await,
        }
        while let Some(reply) = self.outage.next_kept_reply() {
            let key = reply.key;
            match self.journal.finish(self.task(), key, reply).await {
                Err(error @ JournalError::Stopped { .. }) => return Err(error),
                // The journal has lost the call; the backend may have this end.
                Err(error) => {
                    tracing::warn!(%key, %error, "the outcome of a call could not be written");
                }
                Ok(()) => {}
            }
            self.outage
                .unwritten
                .lock()
                .retain(|reply| reply.key != key);
        }
        self.outage.failure.send_replace(None);
        tracing::info!(task = %self.task(), "the journal can be written again");
        (self.outage.on_event)(ExecutorEvent::JournalReopened);
        Ok(())
    }
}

impl Executor {
    /// Waits until a failed journal can be written again; `false` when the executor is to stop.
    pub(super) async fn recover(
        &self,
        calls: &CallTable,
        stop: &CancellationToken,
    ) -> Result<bool, RemoteError> {
        for attempt in 1_u32.. {
            let Some(failure) = calls.failure() else {
                break;
            };
            if self.reconnect.is_exhausted(attempt).is_some() {
                return Err(failure.into());
            }
            tokio::select! {
                () = tokio::time::sleep(self.reconnect.delay(calls.outage.count_failure())) => {}
                () = stop.cancelled() => return Ok(false),
            }
            match calls.reopen().await {
                Ok(()) => break,
                Err(
                    error @ (JournalError::Stopped { .. }
                    | JournalError::Open { .. }
                    | JournalError::InUse { .. }),
                ) => {
                    tracing::warn!(task = %calls.task(), %error, attempt, "the journal cannot be opened yet");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
