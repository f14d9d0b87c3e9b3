//! The store in one file.
//!
//! | file | holds |
//! |---|---|
//! | `tables` | what is where in the file, and each operation on it |
//! | `worker` | the thread that writes, many writes to a commit, and the one that reads |

mod tables;
#[cfg(test)]
mod tests;
mod worker;

use std::fmt;
use std::io;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use redb::{Builder, Database, DatabaseError, ReadTransaction, StorageError};
use tokio::sync::{Semaphore, mpsc, oneshot};

use self::tables::{Done, Tables};
use self::worker::{Asked, BATCH, Read, Write, broken, now};
use super::{Expect, Store, StoreError, StoreFuture, StoreLimits, Stored, Tail, Written, limits};
use crate::remote::protocol::TaskId;

/// A store in one file, for one backend; needs no server.
///
/// A write is on the disk when its future ends; writes that come together share a commit. The file is checked as a whole
/// when it is opened, and goes back to its last commit after a crash.
///
/// ```
/// use contract_runtime::remote::protocol::TaskId;
/// use contract_runtime::remote::store::{EmbeddedStore, Expect, Store};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("contract-{}.store", TaskId::random()));
/// let task = TaskId::random();
/// let store = EmbeddedStore::open(&path)?;
/// let _ = store.write(task, "state", "queued", Expect::Any).await?;
/// drop(store);
///
/// let store = EmbeddedStore::open(&path)?;
/// assert_eq!(store.read(task, "state").await?.map(|there| there.value), Some("queued".into()));
/// # drop(store);
/// # std::fs::remove_file(path)?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct EmbeddedStore(Arc<Inner>);

struct Inner {
    // Before the threads: they end when nobody can ask them any more.
    lines: Option<Lines>,
    threads: Vec<JoinHandle<()>>,
    /// Bytes of values that may wait for the disk.
    room: Arc<Semaphore>,
    limits: StoreLimits,
    path: PathBuf,
}

struct Lines {
    writes: mpsc::Sender<Box<dyn Write>>,
    reads: mpsc::Sender<Read>,
}

/// Bytes of values that wait for the disk at most; who brings more, waits.
const WAITING: u32 = 64 << 20;

/// Bytes of the file that are held in memory; redb's own default is a gigabyte.
const CACHE: usize = 64 << 20;

impl EmbeddedStore {
    /// Opens the store in a file, which is made when it is not there, with the usual limits.
    ///
    /// The last clone that is dropped closes the file, and waits until what was written is on the disk. On Unix only its
    /// owner may read a new one: it holds arguments and results.
    ///
    /// # Errors
    ///
    /// [`InUse`](StoreError::InUse) when another process, or another store of this one, has it open;
    /// [`NotAStore`](StoreError::NotAStore), [`Newer`](StoreError::Newer) or [`Damaged`](StoreError::Damaged) when it is
    /// something else; [`Open`](StoreError::Open) when it cannot be opened or made, as in a folder that is not there;
    /// [`File`](StoreError::File) when it cannot be read or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, StoreLimits::default())
    }

    /// As [`EmbeddedStore::open`], with other limits.
    ///
    /// # Errors
    ///
    /// As [`EmbeddedStore::open`].
    pub fn open_with(path: impl AsRef<Path>, limits: StoreLimits) -> Result<Self, StoreError> {
        let path = path.as_ref();
        #[cfg(unix)]
        make_private(path);
        // Debug builds of redb assert what its release builds give as an error.
        let opened = catch_unwind(|| builder().create(path));
        let database = opened.map_err(|_| StoreError::Damaged {
            what: path.display().to_string(),
            reason: "its tables make no sense".into(),
        })?;
        Self::start(database, path.to_owned(), limits)
    }

    /// A store that is gone when its last clone is dropped, with the usual limits; for tests, and for a backend whose
    /// tasks need not outlive it.
    ///
    /// # Errors
    ///
    /// [`File`](StoreError::File) when the system gives it no thread.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::in_memory_with(StoreLimits::default())
    }

    /// As [`EmbeddedStore::in_memory`], with other limits.
    ///
    /// # Errors
    ///
    /// As [`EmbeddedStore::in_memory`].
    pub fn in_memory_with(limits: StoreLimits) -> Result<Self, StoreError> {
        Self::on(redb::backends::InMemoryBackend::new(), limits)
    }

    fn on(storage: impl redb::StorageBackend, limits: StoreLimits) -> Result<Self, StoreError> {
        let database = builder().create_with_backend(storage);
        Self::start(database, PathBuf::from("(memory)"), limits)
    }

    fn start(
        database: Result<Database, DatabaseError>,
        path: PathBuf,
        limits: StoreLimits,
    ) -> Result<Self, StoreError> {
        let database = database.map_err(|error| unopened(&path, error))?;
        let found = ours(&database).map_err(|error| broken(&path, &error))?;
        if found == 0 {
            return Err(StoreError::NotAStore {
                path,
                reason: "it holds other tables".into(),
            });
        }
        if found > tables::FORMAT {
            let known = tables::FORMAT;
            return Err(StoreError::Newer { path, found, known });
        }
        let (writes, to_write) = mpsc::channel(BATCH);
        let (reads, to_read) = mpsc::channel(BATCH);
        let database = Arc::new(database);
        let mut inner = Inner {
            lines: Some(Lines { writes, reads }),
            threads: Vec::new(),
            room: Arc::new(Semaphore::new(WAITING as usize)),
            limits,
            path: path.clone(),
        };
        let (of_writer, path_of_writer) = (database.clone(), path.clone());
        inner.thread("store-writer", move || {
            worker::write(&of_writer, to_write, limits, &path_of_writer);
        })?;
        inner.thread("store-reader", move || {
            worker::read(&database, to_read, &path);
        })?;
        Ok(Self(Arc::new(inner)))
    }
}

/// A new file is its owner's from the beginning, as that of a journal is.
#[cfg(unix)]
fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // One that is there keeps what its owner has set, and what else is wrong, opening it will say.
    drop(options.open(path));
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    // A file that was altered is refused here, and not believed later.
    builder.set_check_integrity_on_open(true);
    builder
}

fn ours(database: &Database) -> Result<u64, redb::Error> {
    let transaction = database.begin_write()?;
    let found = tables::format(&transaction)?;
    if found == tables::FORMAT {
        transaction.commit()?;
    }
    Ok(found)
}

fn unopened(path: &Path, error: DatabaseError) -> StoreError {
    let path = path.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
            StoreError::InUse { path }
        }
        DatabaseError::Storage(StorageError::Corrupted(reason)) => StoreError::Damaged {
            what: path.display().to_string(),
            reason,
        },
        DatabaseError::Storage(StorageError::Io(error))
            if error.kind() == io::ErrorKind::InvalidData =>
        {
            let reason = error.to_string();
            StoreError::NotAStore { path, reason }
        }
        DatabaseError::Storage(StorageError::Io(error)) => {
            let reason = error.to_string();
            StoreError::Open { path, reason }
        }
        DatabaseError::UpgradeRequired(version) => StoreError::NotAStore {
            path,
            reason: format!("it is a redb file of the old format {version}"),
        },
        error => broken(&path, &error),
    }
}

impl Inner {
    fn thread(
        &mut self,
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<(), StoreError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        let thread = thread.map_err(|error| broken(&self.path, &error))?;
        self.threads.push(thread);
        Ok(())
    }

    async fn change<T, F>(&self, bytes: usize, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Tables<'_>) -> Done<T> + Send + 'static,
        T: Send + 'static,
    {
        let lines = self.lines.as_ref().ok_or(StoreError::Closed)?;
        let bytes = u32::try_from(bytes).unwrap_or(WAITING).clamp(1, WAITING);
        let room = self.room.clone().acquire_many_owned(bytes).await;
        let (to, answer) = oneshot::channel();
        let asked = Asked {
            work: Some(work),
            done: None,
            to,
            _room: room.map_err(|_| StoreError::Closed)?,
        };
        let sent = lines.writes.send(Box::new(asked)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    async fn look<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&ReadTransaction, u64) -> Result<T, redb::Error> + Send + 'static,
        T: Send + 'static,
    {
        let lines = self.lines.as_ref().ok_or(StoreError::Closed)?;
        let (to, answer) = oneshot::channel();
        let path = self.path.clone();
        let read: Read = Box::new(move |transaction| {
            let found = transaction.and_then(|transaction| {
                work(transaction, now()).map_err(|error| broken(&path, &error))
            });
            // Who asked may have gone.
            let _ = to.send(found);
        });
        let sent = lines.reads.send(read).await;
        sent.map_err(|_| StoreError::Closed)?;
        let reason = "its tables make no sense";
        answer.await.map_err(|_| broken(&self.path, &reason))?
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.lines = None;
        for thread in self.threads.drain(..) {
            // It has caught its own panics. Whoever opens the file next must find it closed.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedStore")
            .field("path", &self.0.path)
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

impl Store for EmbeddedStore {
    fn read<'s>(&'s self, task: TaskId, name: &'s str) -> StoreFuture<'s, Option<Stored>> {
        Box::pin(async move {
            limits::name(name)?;
            let (task, name) = (task.to_string(), name.to_owned());
            let look = move |from: &ReadTransaction, now| tables::read(from, now, &task, &name);
            self.0.look(look).await
        })
    }

    fn write<'s>(
        &'s self,
        task: TaskId,
        name: &'s str,
        value: &'s str,
        expect: Expect,
    ) -> StoreFuture<'s, Written> {
        Box::pin(async move {
            limits::name(name)?;
            self.0.limits.value(value)?;
            let (task, name, value) = (task.to_string(), name.to_owned(), value.to_owned());
            let bytes = value.len();
            let change = move |on: &mut Tables<'_>| on.write(&task, &name, &value, expect);
            self.0.change(bytes, change).await
        })
    }

    fn remove<'s>(&'s self, task: TaskId, names: &'s [&'s str]) -> StoreFuture<'s, ()> {
        Box::pin(async move {
            names.iter().try_for_each(|name| limits::name(name))?;
            let task = task.to_string();
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let change = move |on: &mut Tables<'_>| on.remove(&task, &names).map(Ok);
            self.0.change(1, change).await
        })
    }

    fn list<'s>(&'s self, task: TaskId, prefix: &'s str) -> StoreFuture<'s, Vec<(String, Stored)>> {
        Box::pin(async move {
            limits::prefix(prefix)?;
            let (task, prefix) = (task.to_string(), prefix.to_owned());
            let look = move |from: &ReadTransaction, now| tables::list(from, now, &task, &prefix);
            self.0.look(look).await
        })
    }

    fn append<'s>(
        &'s self,
        task: TaskId,
        log: &'s str,
        id: &'s str,
        value: &'s str,
    ) -> StoreFuture<'s, u64> {
        Box::pin(async move {
            limits::name(log)?;
            limits::name(id)?;
            self.0.limits.entry(value)?;
            let (task, log) = (task.to_string(), log.to_owned());
            let (id, value) = (id.to_owned(), value.to_owned());
            let bytes = value.len();
            let change = move |on: &mut Tables<'_>| on.append(&task, &log, &id, &value);
            self.0.change(bytes, change).await
        })
    }

    fn tail<'s>(
        &'s self,
        task: TaskId,
        log: &'s str,
        after: u64,
        most: usize,
    ) -> StoreFuture<'s, Tail> {
        Box::pin(async move {
            limits::name(log)?;
            let (task, log) = (task.to_string(), log.to_owned());
            let look = move |from: &ReadTransaction, now| {
                tables::tail(from, now, (&task, &log), after, most)
            };
            self.0.look(look).await
        })
    }

    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let task = task.to_string();
            let change = move |on: &mut Tables<'_>| on.forget(&task).map(Ok);
            self.0.change(1, change).await
        })
    }

    fn tasks(&self) -> StoreFuture<'_, Vec<TaskId>> {
        Box::pin(async move {
            let there = self.0.look(tables::tasks).await?;
            Ok(there.iter().filter_map(|task| task.parse().ok()).collect())
        })
    }
}
