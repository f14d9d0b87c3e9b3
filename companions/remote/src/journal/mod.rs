//! The executor's durable log of its calls, and the only source on whether a call ran.
//!
//! | file | holds |
//! |---|---|
//! | `arguments` | whether a repeated call is the same call |
//! | `disk` | the file |
//! | `error` | errors |
//! | `index` | the state machine, in memory |
//! | `record` | records as bytes |
//! | `reopen` | reopening after a failed write |
//! | `thread` | the thread that owns the file, and how it is started |
//! | `writer` | what that thread does |

mod arguments;
mod disk;
mod error;
mod index;
mod record;
mod reopen;
#[cfg(any(test, fuzzing))]
mod tests;
mod thread;
mod writer;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
#[cfg(any(test, fuzzing))]
use redb::StorageBackend;
use redb::backends::{FileBackend, InMemoryBackend};
use tokio::sync::oneshot;

pub(crate) use arguments::ArgumentsHash;
pub use error::JournalError;
#[cfg(fuzzing)]
pub use tests::damage::recovered;

use self::index::Limits;
use self::reopen::Reopen;
use self::thread::Thread;
use self::writer::{Answer, Request};
use super::protocol::{CallKey, Entry, JournalId, TaskId, ToolReply};

/// A durable record of the calls that ran: no call runs twice because a connection, a process or a machine went down.
///
/// An executor records a call before it begins, and how it ended before its result is sent. A call that had begun when
/// its process went down is in doubt for good, and is never begun again. The journal lives as long as its file, and one
/// executor at a time has it; clones share it.
///
/// ```
/// use contract_remote::{Journal, JournalError};
///
/// # let folder = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let file = folder.join("calls.journal");
/// let journal = Journal::open(&file)?;
/// let id = journal.id();
/// assert!(matches!(Journal::open(&file), Err(JournalError::InUse { .. })));
///
/// drop(journal);
/// assert_eq!(Journal::open(&file)?.id(), id);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It keeps results that backends have not acknowledged, at most 16,384 or 256 MiB, and takes no new call beyond. Of those
/// that are acknowledged it keeps the latest 4,096, at most 64 MiB, to answer a call that is repeated; what is older is
/// refused when it is repeated.
///
/// The file holds the results of tools, and on Unix only its owner may read a new one.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    id: JournalId,
    path: PathBuf,
    thread: Mutex<Thread>,
    /// `None` for a journal in memory.
    reopen: Option<Reopen>,
    /// Held while it is being reopened.
    reopening: Mutex<()>,
}

/// The journal's answer to a request for a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    /// It was not known, or was accepted and not started by an earlier process; it may be started.
    New,
    /// It is known, with the same arguments.
    Known(State),
    /// It is known, with other arguments.
    Different,
    /// It is not known, and so old that it may have been forgotten.
    TooOld,
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// It has not begun.
    Accepted,
    /// It began in this process, and has not ended.
    Started,
    /// It began in an earlier process.
    InDoubt,
    /// How it ended.
    Finished(Box<ToolReply>),
}

/// A call whose end was not acknowledged, with its result.
#[cfg(any(test, fuzzing))]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnacknowledgedCall {
    pub(crate) key: CallKey,
    pub(crate) state: State,
}

impl Journal {
    /// Opens the journal in a file, and creates the file if it does not exist.
    ///
    /// The whole file is read and checked, which blocks: tens of milliseconds for a small one.
    ///
    /// # Errors
    ///
    /// [`JournalError::Open`] when the file cannot be opened or made, [`JournalError::InUse`] when it is open already,
    /// [`JournalError::NotAJournal`] when it holds something else, [`JournalError::NewerFormat`] when a later release wrote
    /// it, [`JournalError::Damaged`] when it was changed by something else, and [`JournalError::Stopped`] when it cannot be
    /// written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let path = path.as_ref();
        let thread = Self::start_in(path, true)?;
        let again = path.to_owned();
        let reopen = Reopen::new(move || Self::start_in(&again, false));
        Ok(Self::of(thread, path, Some(reopen)))
    }

    /// Starts the thread that owns the file, which is created if `create` is set.
    fn start_in(path: &Path, create: bool) -> Result<Thread, JournalError> {
        let failed = |reason: String| JournalError::Open {
            path: path.to_owned(),
            reason,
        };
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(create)
            .truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(path)
            .map_err(|error| failed(error.to_string()))?;
        let is_new = file.metadata().is_ok_and(|data| data.len() == 0);
        let backend = FileBackend::new(file).map_err(|error| failed(error.to_string()))?;
        let thread = Thread::start(backend, path, Limits::default())?;
        if is_new {
            sync_directory(path).map_err(|error| failed(error.to_string()))?;
        }
        Ok(thread)
    }

    /// Creates a journal that is lost with its process, for tests and for executors whose tools only read.
    #[must_use]
    pub fn in_memory() -> Self {
        let path = Path::new("(in memory)");
        let thread = Thread::start(InMemoryBackend::new(), path, Limits::default());
        // Without a thread, every operation fails with the reason.
        let thread = thread.unwrap_or_else(|error| Thread::none(error.to_string()));
        Self::of(thread, path, None)
    }

    /// Opens a journal on a test's own disk, which can be reopened.
    #[cfg(any(test, fuzzing))]
    fn start_with<B: StorageBackend + Clone>(
        disk: B,
        path: &Path,
        limits: Limits,
    ) -> Result<Self, JournalError> {
        let again = path.to_owned();
        let open = move || Thread::start(disk.clone(), &again, limits);
        let thread = open()?;
        Ok(Self::of(thread, path, Some(Reopen::new(open))))
    }

    /// Opens a journal on a test's own disk.
    #[cfg(test)]
    pub(super) fn on(disk: impl StorageBackend + Clone) -> Result<Self, JournalError> {
        Self::start_with(disk, Path::new("(test)"), Limits::default())
    }

    fn of(thread: Thread, path: &Path, reopen: Option<Reopen>) -> Self {
        Self(Arc::new(Shared {
            id: thread.id,
            path: path.to_owned(),
            thread: Mutex::new(thread),
            reopen,
            reopening: Mutex::default(),
        }))
    }

    /// Returns the id of this journal, which is unique and as old as its file.
    #[must_use]
    pub fn id(&self) -> JournalId {
        self.0.id
    }

    /// Records a call; on disk when it returns.
    ///
    /// None of these is cancel safe: the step is taken, and its result is lost.
    pub(crate) async fn accept(
        &self,
        task: TaskId,
        key: CallKey,
        hash: ArgumentsHash,
    ) -> Result<Admission, JournalError> {
        self.request(|answer| Request::Accept((task, key), hash, answer))
            .await
    }

    /// Lets a call that was accepted begin, once; on disk when it returns.
    pub(crate) async fn start(&self, task: TaskId, key: CallKey) -> Result<(), JournalError> {
        self.request(|answer| Request::Start((task, key), answer))
            .await
    }

    /// Records how a call ended; on disk when it returns. The first end stands.
    pub(crate) async fn finish(
        &self,
        task: TaskId,
        key: CallKey,
        reply: ToolReply,
    ) -> Result<(), JournalError> {
        let reply = record::reply_bytes(&reply);
        self.request(|answer| Request::Finish((task, key), reply, answer))
            .await
    }

    /// Records that the backend has the end of a call, or does not want a call that has not begun.
    ///
    /// It is on disk with the next commit. A running call cannot be acknowledged.
    pub(crate) async fn acknowledge(&self, task: TaskId, key: CallKey) -> Result<(), JournalError> {
        self.request(|answer| Request::Acknowledge((task, key), answer))
            .await
    }

    /// Returns the calls of a task whose end was not acknowledged, by key, with at most `room` bytes of results.
    ///
    /// A larger result is not read before it is requested.
    pub(crate) async fn unacknowledged_within(
        &self,
        task: TaskId,
        room: u64,
    ) -> Result<Vec<Entry>, JournalError> {
        self.request(|answer| Request::Unacknowledged(task, room, answer))
            .await
    }

    /// Returns the last epoch that the backend assigned to the executor, or 0.
    pub(crate) async fn epoch(&self, task: TaskId) -> Result<u64, JournalError> {
        self.request(|answer| Request::Epoch(task, answer)).await
    }

    /// Records an epoch; on disk when it returns.
    ///
    /// An executor that did not know its epoch would supersede one that connected later.
    pub(crate) async fn set_epoch(&self, task: TaskId, epoch: u64) -> Result<(), JournalError> {
        self.request(|answer| Request::SetEpoch(task, epoch, answer))
            .await
    }

    async fn request<T>(&self, make: impl FnOnce(Answer<T>) -> Request) -> Result<T, JournalError> {
        let (answer, result) = oneshot::channel();
        let (queue, status) = {
            let thread = self.0.thread.lock();
            (thread.queue.clone(), Arc::clone(&thread.status))
        };
        if let Some(queue) = queue
            && queue.send(make(answer)).await.is_ok()
            && let Ok(result) = result.await
        {
            return result;
        }
        status.has_stopped.store(true, Ordering::SeqCst);
        Err(self.stopped())
    }

    fn stopped(&self) -> JournalError {
        JournalError::Stopped {
            path: self.0.path.clone(),
            reason: self.stopped_because(),
        }
    }

    fn stopped_because(&self) -> String {
        let why = self.0.thread.lock().status.why.get().cloned();
        why.unwrap_or_else(|| "the store gave up".to_owned())
    }
}

/// Syncs the directory of a new file, so that its name survives a loss of power; the store syncs its content.
fn sync_directory(path: &Path) -> std::io::Result<()> {
    if cfg!(unix) {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
