use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::Calls;
use crate::remote::protocol::CallKey;
use crate::remote::store::StoreError;
use crate::remote::store::ledger::{CallRecord, Ending};

/// The first wait before an end is written once more; it doubles up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// Ends of one task that wait for the store; more are left to the next process that opens it.
const WAITING: usize = 256;

/// An end that could not be written.
#[derive(Debug)]
pub(super) struct Unwritten {
    pub(super) key: CallKey,
    pub(super) ending: Ending,
    /// Of a call of which nobody knows whether it was written down: a write may still be on its way.
    pub(super) record: Option<CallRecord>,
}

/// Whether what ended so may have been done, or may still be.
pub(super) fn may_be_done(error: &StoreError) -> bool {
    match error {
        StoreError::Unavailable { attempts, .. } => *attempts > 0,
        StoreError::File { .. } => true,
        _ => false,
    }
}

impl Calls {
    /// Writes an end down once the store takes it. A result is brought by the next handshake in any case.
    pub(super) fn end_later(self: &Arc<Self>, unwritten: Unwritten) {
        if matches!(unwritten.ending, Ending::Reply(_)) {
            return;
        }
        {
            let mut state = self.state();
            if state.unwritten == WAITING {
                tracing::warn!(key = %unwritten.key, "too many ends of calls wait for the store");
                return;
            }
            state.unwritten += 1;
        }
        let calls = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut wait = SHORTEST;
            loop {
                sleep(wait).await;
                let Some(calls) = calls.upgrade() else {
                    return;
                };
                match calls.write_late(&unwritten).await {
                    Err(StoreError::Unavailable { .. } | StoreError::Overloaded { .. }) => {
                        wait = LONGEST.min(wait * 2);
                    }
                    written => {
                        calls.state().unwritten -= 1;
                        if let Err(error) = written {
                            let key = unwritten.key;
                            tracing::warn!(%key, %error, "the end of a call could not be written");
                        }
                        return;
                    }
                }
            }
        });
    }

    /// A call was not made whose beginning could not be written, or whose home is another one now.
    pub(super) async fn refused(self: Arc<Self>, record: CallRecord, ending: Ending) {
        let key = record.key;
        let unwritten = Unwritten {
            key,
            ending,
            record: Some(record),
        };
        if self.write_late(&unwritten).await.is_err() {
            self.end_later(unwritten);
        }
    }

    async fn write_late(self: &Arc<Self>, unwritten: &Unwritten) -> Result<(), StoreError> {
        let Unwritten {
            key,
            ending,
            record,
        } = unwritten;
        // Written again, it is there before its end is, whatever is still on its way.
        let bytes = match record {
            Some(record) => Some(self.ledger.begin_call(record).await?),
            None => self.ledger.begun(*key).await?,
        };
        match bytes {
            Some(bytes) => self.end(*key, bytes, ending).await,
            None => Ok(()),
        }
    }
}
