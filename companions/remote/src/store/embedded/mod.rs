//! A store in one file, without a server.
//!
//! | file | holds |
//! |---|---|
//! | `tables` | the tables of the file, and the operations on them |
//! | `worker` | the writer thread, which batches writes into commits, and the reader thread |

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

use self::tables::{Applied, Tables};
use self::worker::{BATCH, Read, Write, WriteRequest, file_error, now};
use super::{Expect, Store, StoreError, StoreFuture, StoreLimits, Stored, Tail, Written, limits};
use crate::protocol::TaskId;

/// A store in one file, for one backend; needs no server.
///
/// A write is on the disk when its future ends; writes that come together share a commit. The file is checked as a whole
/// when it is opened, and goes back to its last commit after a crash.
///
/// ```
/// use contract_remote::protocol::TaskId;
/// use contract_remote::store::{EmbeddedStore, Expect, Store};
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
pub struct EmbeddedStore(Arc<Shared>);

struct Shared {
    // Dropped before the threads, which end when their queues are closed.
    queues: Option<Queues>,
    threads: Vec<JoinHandle<()>>,
    /// The bytes of values that may wait for the disk.
    pending_bytes: Arc<Semaphore>,
    limits: StoreLimits,
    path: PathBuf,
}

struct Queues {
    writes: mpsc::Sender<Box<dyn Write>>,
    reads: mpsc::Sender<Read>,
}

/// The most bytes of values that wait for the disk; a larger write waits.
const MAX_PENDING_BYTES: u32 = 64 << 20;

/// The cache, in bytes; redb's own default is a gigabyte.
const CACHE: usize = 64 << 20;

impl EmbeddedStore {
    /// Opens the store in a file, which is created if it does not exist, with the default limits.
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

    /// Opens the store with other limits, like [`EmbeddedStore::open`].
    ///
    /// # Errors
    ///
    /// As [`EmbeddedStore::open`].
    pub fn open_with(path: impl AsRef<Path>, limits: StoreLimits) -> Result<Self, StoreError> {
        let path = path.as_ref();
        #[cfg(unix)]
        make_private(path);
        // Debug builds of redb assert what its release builds return as an error.
        let opened = catch_unwind(|| builder().create(path));
        let database = opened.map_err(|_| StoreError::Damaged {
            what: path.display().to_string(),
            reason: "its tables make no sense".into(),
        })?;
        Self::start(database, path.to_owned(), limits)
    }

    /// Creates a store that is gone when its last clone is dropped, with the default limits; for tests, and for a backend
    /// whose tasks need not outlive it.
    ///
    /// # Errors
    ///
    /// [`File`](StoreError::File) when the system gives it no thread.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::in_memory_with(StoreLimits::default())
    }

    /// Creates a store with other limits, like [`EmbeddedStore::in_memory`].
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
        let database = database.map_err(|error| open_error(&path, error))?;
        let found = check_format(&database).map_err(|error| file_error(&path, &error))?;
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
        let mut shared = Shared {
            queues: Some(Queues { writes, reads }),
            threads: Vec::new(),
            pending_bytes: Arc::new(Semaphore::new(MAX_PENDING_BYTES as usize)),
            limits,
            path: path.clone(),
        };
        let (of_writer, path_of_writer) = (database.clone(), path.clone());
        shared.thread("store-writer", move || {
            worker::write(&of_writer, to_write, limits, &path_of_writer);
        })?;
        shared.thread("store-reader", move || {
            worker::read(&database, to_read, &path);
        })?;
        Ok(Self(Arc::new(shared)))
    }
}

/// Creates a new file that only its owner may read, as that of a journal.
#[cfg(unix)]
fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // An existing file keeps its permissions; opening it reports any other error.
    drop(options.open(path));
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    // An altered file is refused here, not trusted until it is read.
    builder.set_check_integrity_on_open(true);
    builder
}

fn check_format(database: &Database) -> Result<u64, redb::Error> {
    let transaction = database.begin_write()?;
    let found = tables::format(&transaction)?;
    if found == tables::FORMAT {
        transaction.commit()?;
    }
    Ok(found)
}

fn open_error(path: &Path, error: DatabaseError) -> StoreError {
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
        error => file_error(&path, &error),
    }
}

impl Shared {
    fn thread(
        &mut self,
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<(), StoreError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        let thread = thread.map_err(|error| file_error(&self.path, &error))?;
        self.threads.push(thread);
        Ok(())
    }

    async fn write_with<T, F>(&self, bytes: usize, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Tables<'_>) -> Applied<T> + Send + 'static,
        T: Send + 'static,
    {
        let queues = self.queues.as_ref().ok_or(StoreError::Closed)?;
        let bytes = u32::try_from(bytes)
            .unwrap_or(MAX_PENDING_BYTES)
            .clamp(1, MAX_PENDING_BYTES);
        let pending_bytes = self.pending_bytes.clone().acquire_many_owned(bytes).await;
        let (to, answer) = oneshot::channel();
        let request = WriteRequest {
            work: Some(work),
            done: None,
            to,
            _pending_bytes: pending_bytes.map_err(|_| StoreError::Closed)?,
        };
        let sent = queues.writes.send(Box::new(request)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    async fn read_with<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&ReadTransaction, u64) -> Result<T, redb::Error> + Send + 'static,
        T: Send + 'static,
    {
        let queues = self.queues.as_ref().ok_or(StoreError::Closed)?;
        let (to, answer) = oneshot::channel();
        let path = self.path.clone();
        let read: Read = Box::new(move |transaction| {
            let found = transaction.and_then(|transaction| {
                work(transaction, now()).map_err(|error| file_error(&path, &error))
            });
            // The caller may have been dropped.
            let _ = to.send(found);
        });
        let sent = queues.reads.send(read).await;
        sent.map_err(|_| StoreError::Closed)?;
        let reason = "its tables make no sense";
        answer.await.map_err(|_| file_error(&self.path, &reason))?
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.queues = None;
        for thread in self.threads.drain(..) {
            // It has caught its own panics. The file must be closed before it is opened again.
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
            self.0.read_with(look).await
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
            self.0.write_with(bytes, change).await
        })
    }

    fn remove<'s>(&'s self, task: TaskId, names: &'s [&'s str]) -> StoreFuture<'s, ()> {
        Box::pin(async move {
            names.iter().try_for_each(|name| limits::name(name))?;
            let task = task.to_string();
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let change = move |on: &mut Tables<'_>| on.remove(&task, &names).map(Ok);
            self.0.write_with(1, change).await
        })
    }

    fn list<'s>(&'s self, task: TaskId, prefix: &'s str) -> StoreFuture<'s, Vec<(String, Stored)>> {
        Box::pin(async move {
            limits::prefix(prefix)?;
            let (task, prefix) = (task.to_string(), prefix.to_owned());
            let look = move |from: &ReadTransaction, now| tables::list(from, now, &task, &prefix);
            self.0.read_with(look).await
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
            self.0.write_with(bytes, change).await
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
            self.0.read_with(look).await
        })
    }

    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let task = task.to_string();
            let change = move |on: &mut Tables<'_>| on.forget(&task).map(Ok);
            self.0.write_with(1, change).await
        })
    }

    fn tasks(&self) -> StoreFuture<'_, Vec<TaskId>> {
        Box::pin(async move {
            let there = self.0.read_with(tables::tasks).await?;
            Ok(there.iter().filter_map(|task| task.parse().ok()).collect())
        })
    }
}
