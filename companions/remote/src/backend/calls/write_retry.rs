//! Retries writing a call's end to the store, with backoff.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::Calls;
use crate::protocol::CallKey;
use crate::store::StoreError;
use crate::store::task_store::{Ending, StoredCall};

/// The first delay before an end is written again; it doubles up to [`MAX_BACKOFF`].
const MIN_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// How many ends of one task may wait for the store; more are left to the next process that opens it.
const MAX_PENDING: usize = 256;

/// An end that could not be written.
#[derive(Debug)]
pub(super) struct PendingWrite {
    pub(super) key: CallKey,
    pub(super) ending: Ending,
    /// The call, if it is not known whether it was stored: a write may still be in flight.
    pub(super) record: Option<StoredCall>,
}

/// Whether a write that failed so may have been applied, or may still be.
pub(super) fn may_be_applied(error: &StoreError) -> bool {
    match error {
        StoreError::Unavailable { attempts, .. } => *attempts > 0,
        StoreError::File { .. } => true,
        _ => false,
    }
}

impl Calls {
    /// Writes an end in the background until the store accepts it. A result is skipped: the next handshake sends it again.
    pub(super) fn retry_write(self: &Arc<Self>, pending: PendingWrite) {
        if matches!(pending.ending, Ending::Reply(_)) {
            return;
        }
        {
            let mut state = self.state();
            if state.pending == MAX_PENDING {
                tracing::warn!(key = %pending.key, "too many outcomes of calls wait for the store");
                return;
            }
            state.pending += 1;
        }
        let calls = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut wait = MIN_BACKOFF;
            loop {
                sleep(wait).await;
                let Some(calls) = calls.upgrade() else {
                    return;
                };
                match calls.write_pending(&pending).await {
                    Err(StoreError::Unavailable { .. } | StoreError::Overloaded { .. }) => {
                        wait = MAX_BACKOFF.min(wait * 2);
                    }
                    written => {
                        calls.state().pending -= 1;
                        if let Err(error) = written {
                            let key = pending.key;
                            tracing::warn!(%key, %error, "the outcome of a call could not be written");
                        }
                        return;
                    }
                }
            }
        });
    }

    /// Records that a call was not run, because it could not be stored or another backend owns the task now.
    pub(super) async fn record_not_run(self: Arc<Self>, record: StoredCall, ending: Ending) {
        let key = record.key;
        let pending = PendingWrite {
            key,
            ending,
            record: Some(record),
        };
        if self.write_pending(&pending).await.is_err() {
            self.retry_write(pending);
        }
    }

    async fn write_pending(self: &Arc<Self>, pending: &PendingWrite) -> Result<(), StoreError> {
        let PendingWrite {
            key,
            ending,
            record,
        } = pending;
        // Writing the call again ensures that it is stored before its end, whatever is still in flight.
        let bytes = match record {
            Some(record) => Some(self.task_store.begin_call(record).await?),
            None => self.task_store.stored_size(*key).await?,
        };
        match bytes {
            Some(bytes) => self.record_end(*key, bytes, ending).await,
            None => Ok(()),
        }
    }
}
