//! What a backend keeps of its tasks, so that it, or another one, goes on where it was.
//!
//! A store is never the proof that a call ran; that is the executor's [`Journal`](crate::remote::Journal). A store that
//! is gone, slow or back at an older state changes what can be done now, and never the truth about a call.
//!
//! | file | holds |
//! |---|---|
//! | `types` | what is read and written |
//! | `limits` | what fits in, and for how long |
//! | `error` | what can go wrong |
//! | `embedded/` | the store in one file, without a server |
//! | `redis/` | the store that several backends share |
//! | `relay/` | how backends reach each other, beside that store |
//! | `ledger/` | the typed layer: what of a task is kept under which name |

mod embedded;
mod error;
pub(crate) mod ledger;
mod limits;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
pub(crate) mod relay;
mod types;

use std::fmt;

pub use embedded::EmbeddedStore;
pub use error::StoreError;
pub use limits::StoreLimits;
#[cfg(feature = "redis")]
pub use redis::{RedisOptions, RedisState, RedisStore};
pub use types::{Expect, Logged, StoreFuture, Stored, Tail, Written};

use crate::remote::protocol::TaskId;

/// Where a backend keeps what it knows of its tasks: named values with versions, and capped logs.
///
/// ```
/// use contract_runtime::remote::protocol::TaskId;
/// use contract_runtime::remote::store::{EmbeddedStore, Expect, Store, Written};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = EmbeddedStore::in_memory()?;
/// let task = TaskId::random();
///
/// let written = store.write(task, "state", "queued", Expect::Absent).await?;
/// assert_eq!(written, Written::Done { version: 1 });
/// // Somebody who has not seen the value does not overwrite it.
/// let written = store.write(task, "state", "running", Expect::Absent).await?;
/// assert!(matches!(written, Written::Conflict { there: Some(there) } if there.value == "queued"));
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
    /// The value under a name, if there is one.
    fn read<'s>(&'s self, task: TaskId, name: &'s str) -> StoreFuture<'s, Option<Stored>>;

    /// Puts a value under a name, if what is there is what `expect` says; durable when the future ends.
    fn write<'s>(
        &'s self,
        task: TaskId,
        name: &'s str,
        value: &'s str,
        expect: Expect,
    ) -> StoreFuture<'s, Written>;

    /// Drops the values under these names, all of them or none; a name without a value is no error.
    ///
    /// The versions of a name begin anew when it is written again.
    fn remove<'s>(&'s self, task: TaskId, names: &'s [&'s str]) -> StoreFuture<'s, ()>;

    /// The values whose names begin with `prefix`, which may be empty, by name.
    ///
    /// It is no snapshot: what is written meanwhile may be there or not, each value whole.
    fn list<'s>(&'s self, task: TaskId, prefix: &'s str) -> StoreFuture<'s, Vec<(String, Stored)>>;

    /// Adds an entry to a log and gives its sequence number: from 1, without gaps, for each task and log.
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

    /// The entries after a sequence number, at most so many, oldest first; fewer when they are large, at least one when
    /// there is one.
    fn tail<'s>(
        &'s self,
        task: TaskId,
        log: &'s str,
        after: u64,
        most: usize,
    ) -> StoreFuture<'s, Tail>;

    /// Drops all that is kept of a task.
    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()>;

    /// The tasks of which something is kept, in the order of their ids.
    fn tasks(&self) -> StoreFuture<'_, Vec<TaskId>>;
}
