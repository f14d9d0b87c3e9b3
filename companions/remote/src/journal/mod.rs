//! What an executor knows of its calls, on disk: whether one ran is asked here and nowhere else.
//!
//! | file | holds |
//! |---|---|
//! | `arguments` | whether a repeated call is the same call |
//! | `disk` | the file |
//! | `error` | what can go wrong |
//! | `index` | the rules, in memory |
//! | `record` | records as bytes |
//! | `writer` | the thread that has the file |

mod arguments;
mod disk;
mod error;
mod index;
mod record;
#[cfg(any(test, fuzzing))]
mod tests;
mod writer;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc as blocking};
use std::thread::JoinHandle;

use redb::StorageBackend;
use redb::backends::{FileBackend, InMemoryBackend};
use tokio::sync::{mpsc, oneshot};

pub(crate) use arguments::ArgumentsHash;
pub use error::JournalError;
#[cfg(fuzzing)]
pub use tests::damage::recovered;

use self::disk::Disk;
use self::index::Limits;
use self::writer::{Answer, Ask, QUEUE, Writer};
use super::protocol::{CallKey, Entry, JournalId, TaskId, ToolReply};

/// The record, on disk, of what ran: no call runs twice because a connection, a process or a machine went down.
///
/// An executor writes that a call begins before it begins, and how it ended before anybody is told. What had begun when
/// its process went down is in doubt for good, and is never begun again. The journal lives as long as its file, and one
/// executor at a time has it; clones share it.
///
/// ```
/// use contract_runtime::remote::{Journal, JournalError};
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
    why: Arc<OnceLock<String>>,
    /// Gone while it is dropped, which is how the thread learns of it.
    queue: Option<mpsc::Sender<Ask>>,
    thread: Option<JoinHandle<()>>,
}

/// What the journal says to a call that came in.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    /// It was not known, or was accepted by a process that is gone and not begun; it may be started.
    New,
    /// It is known, with these arguments.
    Known(State),
    /// It is known, with other arguments.
    Different,
    /// It is not known, and so old that it may have been forgotten.
    TooOld,
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// It has not begun.
    Accepted,
    /// It began in this process, and has not ended.
    Started,
    /// It began in a process that is gone.
    InDoubt,
    /// How it ended.
    Finished(Box<ToolReply>),
}

/// A call whose end was not acknowledged, with its result.
#[cfg(any(test, fuzzing))]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) key: CallKey,
    pub(crate) state: State,
}

impl Journal {
    /// Opens the journal in a file, or makes one where there is no file.
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
        let failed = |reason: String| JournalError::Open {
            path: path.to_owned(),
            reason,
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(path)
            .map_err(|error| failed(error.to_string()))?;
        let is_new = file.metadata().is_ok_and(|data| data.len() == 0);
        let backend = FileBackend::new(file).map_err(|error| failed(error.to_string()))?;
        let journal = Self::start_with(backend, path, Limits::default())?;
        if is_new {
            keep_name(path).map_err(|error| failed(error.to_string()))?;
        }
        Ok(journal)
    }

    /// A journal that is lost with its process, for tests and for executors whose tools only read.
    #[must_use]
    pub fn in_memory() -> Self {
        let path = Path::new("(in memory)");
        Self::start_with(InMemoryBackend::new(), path, Limits::default()).unwrap_or_else(|error| {
            // There is no thread to be had. It says so whenever it is asked.
            let why = OnceLock::from(error.to_string());
            Self(Arc::new(Shared {
                id: JournalId::random(),
                path: path.to_owned(),
                why: Arc::new(why),
                queue: None,
                thread: None,
            }))
        })
    }

    /// A journal on a disk of the test's own.
    #[cfg(test)]
    pub(super) fn on(disk: impl StorageBackend) -> Result<Self, JournalError> {
        Self::start_with(disk, Path::new("(test)"), Limits::default())
    }

    /// Which journal this is: as old as its file, and like no other.
    #[must_use]
    pub fn id(&self) -> JournalId {
        self.0.id
    }

    fn start_with<B: StorageBackend>(
        backend: B,
        path: &Path,
        limits: Limits,
    ) -> Result<Self, JournalError> {
        let (opened, told) = blocking::sync_channel(1);
        let (queue, asks) = mpsc::channel(QUEUE);
        let why = Arc::new(OnceLock::new());
        let thread = std::thread::Builder::new().name("journal".to_owned());
        let thread = thread.spawn({
            let (path, why) = (path.to_owned(), why.clone());
            move || match Disk::open(backend, &path, limits) {
                Ok((disk, index, id)) => {
                    let _ = opened.send(Ok(id));
                    let held = writer::Held::default();
                    Writer {
                        disk,
                        index,
                        queue: asks,
                        path,
                        why,
                        held,
                    }
                    .run();
                }
                Err(error) => {
                    let _ = opened.send(Err(error));
                }
            }
        });
        let thread = thread.map_err(|error| JournalError::Open {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let mut shared = Shared {
            id: JournalId::random(),
            path: path.to_owned(),
            why,
            queue: Some(queue),
            thread: Some(thread),
        };
        // The store asserts, in builds that do, what a file that it wrote cannot fail; then its thread ends in silence.
        shared.id = told.recv().unwrap_or_else(|_| {
            Err(JournalError::Damaged {
                path: path.to_owned(),
                reason: "it cannot be read".to_owned(),
            })
        })?;
        Ok(Self(Arc::new(shared)))
    }

    /// Takes note of a call; on disk when it returns.
    ///
    /// None of these is safe to give up half-way: the step is taken, and nobody hears of it.
    pub(crate) async fn accept(
        &self,
        task: TaskId,
        key: CallKey,
        hash: ArgumentsHash,
    ) -> Result<Admission, JournalError> {
        self.ask(|answer| Ask::Accept((task, key), hash, answer))
            .await
    }

    /// Lets a call that was accepted begin, once; on disk when it returns.
    pub(crate) async fn start(&self, task: TaskId, key: CallKey) -> Result<(), JournalError> {
        self.ask(|answer| Ask::Start((task, key), answer)).await
    }

    /// Takes note of how a call ended; on disk when it returns. The first end stands.
    pub(crate) async fn finish(
        &self,
        task: TaskId,
        key: CallKey,
        reply: ToolReply,
    ) -> Result<(), JournalError> {
        let reply = record::reply_bytes(&reply);
        self.ask(|answer| Ask::Finish((task, key), reply, answer))
            .await
    }

    /// Takes note that the backend has the end of a call, or wants none of one that has not begun.
    ///
    /// It is on disk with the next step that must be. A call that is running cannot be acknowledged.
    pub(crate) async fn acknowledge(&self, task: TaskId, key: CallKey) -> Result<(), JournalError> {
        self.ask(|answer| Ask::Acknowledge((task, key), answer))
            .await
    }

    /// The calls of a task whose end was not acknowledged, by key, with as many bytes of results as there is room for.
    ///
    /// A larger result stays where it is: nobody reads it before it is asked for.
    pub(crate) async fn unacknowledged_within(
        &self,
        task: TaskId,
        room: u64,
    ) -> Result<Vec<Entry>, JournalError> {
        self.ask(|answer| Ask::Unacknowledged(task, room, answer))
            .await
    }

    /// The last epoch that the executor was told, 0 when it was told none.
    pub(crate) async fn epoch(&self, task: TaskId) -> Result<u64, JournalError> {
        self.ask(|answer| Ask::Epoch(task, answer)).await
    }

    /// Takes note of an epoch; on disk when it returns.
    ///
    /// An executor that did not know that it was there before would take the task from one that came later.
    pub(crate) async fn set_epoch(&self, task: TaskId, epoch: u64) -> Result<(), JournalError> {
        self.ask(|answer| Ask::SetEpoch(task, epoch, answer)).await
    }

    async fn ask<T>(&self, make: impl FnOnce(Answer<T>) -> Ask) -> Result<T, JournalError> {
        let (answer, told) = oneshot::channel();
        if let Some(queue) = &self.0.queue
            && queue.send(make(answer)).await.is_ok()
            && let Ok(told) = told.await
        {
            return told;
        }
        let reason = self.0.why.get();
        Err(JournalError::Stopped {
            path: self.0.path.clone(),
            reason: reason
                .map_or("the store gave up", String::as_str)
                .to_owned(),
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // So that the file can be opened again at once.
            let _ = thread.join();
        }
    }
}

/// Keeps the name of a new file through a loss of power; its content is the store's affair.
fn keep_name(path: &Path) -> std::io::Result<()> {
    if cfg!(unix) {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
