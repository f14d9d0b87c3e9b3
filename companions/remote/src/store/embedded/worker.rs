//! The thread that batches writes into commits and serves reads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redb::{Database, ReadTransaction, ReadableDatabase};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::tables::{Applied, Tables};
use crate::store::{StoreError, StoreLimits};

/// The most writes that share one commit; they are applied in order of arrival.
pub(super) const BATCH: usize = 256;

/// How often expired tasks are dropped, while anything is written.
const SWEEP: Duration = Duration::from_secs(60);

/// A queued write: applied with others, answered once all of them are on disk.
pub(super) trait Write: Send {
    /// Changes the tables.
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), redb::Error>;
    /// Sends the answer, or the error of the commit.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A write with a closure.
pub(super) struct WriteRequest<F, T> {
    pub(super) work: Option<F>,
    pub(super) done: Option<Result<T, StoreError>>,
    pub(super) to: oneshot::Sender<Result<T, StoreError>>,
    /// Reserves its bytes until it is answered.
    pub(super) _pending_bytes: OwnedSemaphorePermit,
}

impl<F, T> Write for WriteRequest<F, T>
where
    F: FnOnce(&mut Tables<'_>) -> Applied<T> + Send,
    T: Send,
{
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), redb::Error> {
        if let Some(work) = self.work.take() {
            self.done = Some(work(tables)?);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { done, to, .. } = *self;
        let done = committed.and_then(|()| done.unwrap_or(Err(StoreError::Closed)));
        // The caller may have been dropped.
        let _ = to.send(done);
    }
}

/// A read, which sends its own answer.
pub(super) type Read = Box<dyn FnOnce(Result<&ReadTransaction, StoreError>) + Send>;

/// Milliseconds since 1970; the wall clock, because times must compare across restarts.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Returns the error of a file that cannot be used.
pub(super) fn file_error(path: &Path, reason: &impl ToString) -> StoreError {
    StoreError::File {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Applies writes until the queue is closed.
pub(super) fn write(
    database: &Database,
    mut writes: mpsc::Receiver<Box<dyn Write>>,
    limits: StoreLimits,
    path: &Path,
) {
    let mut lost = None;
    let mut swept: Option<Instant> = None;
    let mut batch = Vec::new();
    while let Some(first) = writes.blocking_recv() {
        batch.push(first);
        while batch.len() < BATCH
            && let Ok(next) = writes.try_recv()
        {
            batch.push(next);
        }
        let due = swept.is_none_or(|swept| swept.elapsed() >= SWEEP);
        // A panic below would otherwise leave all callers without an answer.
        let run = AssertUnwindSafe(|| commit(database, &mut batch, &limits, due));
        let committed = match &lost {
            Some(lost) => Err(StoreError::clone(lost)),
            None => match catch_unwind(run) {
                Ok(Ok(more)) => {
                    if due && !more {
                        swept = Some(Instant::now());
                    }
                    Ok(())
                }
                Ok(Err(error)) => Err(file_error(path, &error)),
                Err(_) => Err(file_error(path, &"its tables make no sense")),
            },
        };
        // Only redb knows what was half done, and it accepts no write after a disk error.
        lost = committed.as_ref().err().cloned();
        for write in batch.drain(..) {
            write.answer(committed.clone());
        }
    }
}

fn commit(
    database: &Database,
    batch: &mut [Box<dyn Write>],
    limits: &StoreLimits,
    sweep: bool,
) -> Result<bool, redb::Error> {
    let transaction = database.begin_write()?;
    let mut more = false;
    {
        let mut tables = Tables::open(&transaction, now(), limits)?;
        if sweep {
            more = tables.sweep()?;
        }
        for write in batch {
            write.apply(&mut tables)?;
        }
    }
    transaction.commit()?;
    Ok(more)
}

/// Answers reads until the queue is closed; on a thread of its own, so that a read does not wait for the disk.
pub(super) fn read(database: &Arc<Database>, mut reads: mpsc::Receiver<Read>, path: &Path) {
    while let Some(read) = reads.blocking_recv() {
        let run = AssertUnwindSafe(|| match database.begin_read() {
            Ok(transaction) => read(Ok(&transaction)),
            Err(error) => read(Err(file_error(path, &error))),
        });
        // The caller's channel is dropped, which reports the failure; others continue.
        let _ = catch_unwind(run);
    }
}
