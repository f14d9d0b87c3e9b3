//! The store of a backend: the state of its tasks, which survives a restart or a change of backend.
//!
//! The store never proves that a call ran; the executor's [`Journal`](crate::Journal) does. A store that is
//! unavailable, slow or rolled back to an older state limits what can be done now, and never changes whether a call ran.
//!
//! | file | holds |
//! |---|---|
//! | `types` | the types of the interface |
//! | `limits` | limits on size and time |
//! | `error` | errors |
//! | `embedded/` | the store in one file, without a server |
//! | `redis/` | the store in Redis, shared by several backends |
//! | `leases` | which backends run |
//! | `task_store/` | typed access: the names under which a task is stored |

mod embedded;
mod error;
#[cfg(feature = "redis")]
pub(crate) mod leases;
mod limits;
#[cfg(feature = "redis")]
mod redis;
pub(crate) mod task_store;
mod types;

use std::fmt;

pub use embedded::EmbeddedStore;
pub use error::StoreError;
pub use limits::StoreLimits;
#[cfg(feature = "redis")]
pub use redis::{RedisOptions, RedisState, RedisStore};
pub use types::{Expect, Logged, StoreFuture, Stored, Tail, Written};

use crate::protocol::TaskId;

/// The interface of a backend's storage: named values with versions, and capped logs, for each task.
///
/// ```
/// use contract_remote::protocol::TaskId;
/// use contract_remote::store::{EmbeddedStore, Expect, Store, Written};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = EmbeddedStore::in_memory()?;
/// let task = TaskId::random();
///
/// let written = store.write(task, "state", "queued", Expect::Absent).await?;
/// assert_eq!(written, Written::Done { version: 1 });
/// // A writer that has not seen the value does not overwrite it.
/// let written = store.write(task, "state", "running", Expect::Absent).await?;
/// assert!(matches!(written, Written::Conflict { current: Some(there) } if there.value == "queued"));
///
/// assert_eq!(store.append(task, "events", "e1", "{}").await?, 1);
/// assert_eq!(store.append(task, "events", "e1", "{}").await?, 1);
/// # Ok(()) }
/// ```
///
/// A program may keep its own of a task in the store of its backend. The backend itself has the names `token`, `owner`, `home`,
/// `finished`, `handshake`, those that begin with `call.`, `ending.` or `backend.`, and no log: take others.
///
/// Names, logs and ids are 1 to 100 ASCII letters, digits or any of `_ - . #`. Each write gives the task its time to
/// live anew; a task that outlives it is gone as a whole. A future that is dropped may have done its work or may still do
/// it, and so may one that ended as [`StoreError::Unavailable`]: where order counts, say with [`Expect`] what the
/// write is built on.
pub trait Store: fmt::Debug + Send + Sync {
    /// Reads the value under a name, if there is one.
    fn read<'s>(&'s self, task: TaskId, name: &'s str) -> StoreFuture<'s, Option<Stored>>;

    /// Writes a value under a name if the current one is what `expect` says; it is durable when the future completes.
    fn write<'s>(
        &'s self,
        task: TaskId,
        name: &'s str,
        value: &'s str,
        expect: Expect,
    ) -> StoreFuture<'s, Written>;

    /// Removes the values under these names, all or none; a name without a value is not an error.
    ///
    /// The versions of a name begin anew when it is written again.
    fn remove<'s>(&'s self, task: TaskId, names: &'s [&'s str]) -> StoreFuture<'s, ()>;

    /// Lists the values whose names begin with `prefix`, which may be empty, sorted by name.
    ///
    /// It is not a snapshot: what is written meanwhile may be there or not, each value whole.
    fn list<'s>(&'s self, task: TaskId, prefix: &'s str) -> StoreFuture<'s, Vec<(String, Stored)>>;

    /// Appends an entry to a log and returns its sequence number: from 1, without gaps, for each task and log.
    ///
    /// An id that the log still holds is not added again and gives the number it has. When the log is full, its oldest
    /// entries are cut.
    fn append<'s>(
        &'s self,
        task: TaskId,
        log: &'s str,
        id: &'s str,
        value: &'s str,
    ) -> StoreFuture<'s, u64>;

    /// Reads the entries after a sequence number, at most `most`, oldest first; fewer if they are large, but at least one
    /// if there is one.
    fn tail<'s>(
        &'s self,
        task: TaskId,
        log: &'s str,
        after: u64,
        most: usize,
    ) -> StoreFuture<'s, Tail>;

    /// Deletes everything stored about a task.
    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()>;

    /// Lists the tasks for which something is stored, in the order of their ids.
    fn tasks(&self) -> StoreFuture<'_, Vec<TaskId>>;
}
