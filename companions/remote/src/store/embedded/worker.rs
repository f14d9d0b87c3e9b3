use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redb::{Database, ReadTransaction, ReadableDatabase};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::tables::{Done, Tables};
use crate::remote::store::{StoreError, StoreLimits};

/// Writes that share one commit at most; they are applied in the order in which they came.
pub(super) const BATCH: usize = 256;

/// How often tasks that are over are looked for, while anything is written.
const SWEEP: Duration = Duration::from_secs(60);

/// A write on its way: applied with others, answered once all of them are on the disk.
pub(super) trait Write: Send {
    /// Changes the tables.
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), redb::Error>;
    /// Gives the answer, or why there is none.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A write by a closure.
pub(super) struct Asked<F, T> {
    pub(super) work: Option<F>,
    pub(super) done: Option<Result<T, StoreError>>,
    pub(super) to: oneshot::Sender<Result<T, StoreError>>,
    /// Room for its bytes, given back with the answer.
    pub(super) _room: OwnedSemaphorePermit,
}

impl<F, T> Write for Asked<F, T>
where
    F: FnOnce(&mut Tables<'_>) -> Done<T> + Send,
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
        // Who asked may have gone.
        let _ = to.send(done);
    }
}

/// A read, which gives its own answer.
pub(super) type Read = Box<dyn FnOnce(Result<&ReadTransaction, StoreError>) + Send>;

/// Milliseconds since 1970; the clock of the machine, because it must go on over restarts.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Why a file cannot be used, for people.
pub(super) fn broken(path: &Path, reason: &impl ToString) -> StoreError {
    StoreError::File {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Applies writes until nobody can ask for one any more.
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
        // A panic below would otherwise leave everybody without an answer.
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
                Ok(Err(error)) => Err(broken(path, &error)),
                Err(_) => Err(broken(path, &"its tables make no sense")),
            },
        };
        // What was half done is known to redb only, which takes no further write after an error of the disk.
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

/// Answers reads until nobody can ask for one any more; beside the writer, so that a read waits for no disk.
pub(super) fn read(database: &Arc<Database>, mut reads: mpsc::Receiver<Read>, path: &Path) {
    while let Some(read) = reads.blocking_recv() {
        let run = AssertUnwindSafe(|| match database.begin_read() {
            Ok(transaction) => read(Ok(&transaction)),
            Err(error) => read(Err(broken(path, &error))),
        });
        // The one who asked is told that there is no answer, by its channel; others go on.
        let _ = catch_unwind(run);
    }
}
