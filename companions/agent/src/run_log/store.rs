//! Where the logs of runs are kept.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;

/// What a [`RunStore`] gives: a future with the result of one operation.
pub type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keeps the logs of runs, each a list of records that only grows.
///
/// A record is one line of JSON. Implement it over any database that can refuse a record whose number is taken, such as by a unique
/// key over run and number. [`FileStore`](crate::FileStore) keeps each log in a file, and [`MemoryStore`] keeps all in memory.
///
/// Records hold what the model said and the arguments of its calls, with their secrets.
pub trait RunStore: Send + Sync {
    /// Appends a record to the log of a run that has `expected` records, and returns when it is durable.
    ///
    /// The run waits for it, also beyond its deadline; a store that may not answer needs a timeout of its own.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the log has another number of records; nothing is appended then. [`StoreError::Failed`] if it is
    /// not known whether the record was appended.
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()>;

    /// Returns all records of a run in order; none for a run that is not known.
    ///
    /// # Errors
    ///
    /// If the log cannot be read.
    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>>;
}

impl<S: RunStore + ?Sized> RunStore for Arc<S> {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        (**self).append(run, expected, record)
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        (**self).read(run)
    }
}

/// Why the log of a run could not be read or continued.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Somebody else has continued the run.
    #[error(
        "the log of run `{run}` has not {expected} records, because the run was continued elsewhere; read it again"
    )]
    Conflict {
        /// The run.
        run: String,
        /// How many records the log was expected to have.
        expected: u64,
    },
    /// A record cannot be understood.
    #[error("record {record} of run `{run}` is damaged: {reason}")]
    Damaged {
        /// The run.
        run: String,
        /// The number of the record, from 0.
        record: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A newer version of this library wrote the log.
    #[error(
        "the log of run `{run}` has format {format}, and this version reads format {known}; update contract-agent"
    )]
    Newer {
        /// The run.
        run: String,
        /// The format of the log.
        format: u32,
        /// The format that this version reads.
        known: u32,
    },
    /// The store did not do what it was asked for.
    #[error("the log of run `{run}` could not be {action}: {reason}")]
    Failed {
        /// The run.
        run: String,
        /// `read` or `written`.
        action: &'static str,
        /// What the store said.
        reason: String,
    },
}

/// Keeps logs in memory, for tests and for runs that need not outlive their process; clones share them.
///
/// ```
/// use contract_agent::{MemoryStore, RunStore as _};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), contract_agent::StoreError> {
/// let store = MemoryStore::new();
/// store.append("order-7", 0, "{}").await?;
/// assert!(store.append("order-7", 0, "{}").await.is_err());
/// assert_eq!(store.read("order-7").await?, ["{}"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<HashMap<String, Vec<String>>>>);

impl MemoryStore {
    /// Creates a store without logs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl RunStore for MemoryStore {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        Box::pin(async move {
            let mut logs = self.0.lock();
            let log = logs.entry(run.to_owned()).or_default();
            if log.len() as u64 != expected {
                return Err(conflict(run, expected));
            }
            log.push(record.to_owned());
            Ok(())
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        Box::pin(async move { Ok(self.0.lock().get(run).cloned().unwrap_or_default()) })
    }
}

pub(super) fn conflict(run: &str, expected: u64) -> StoreError {
    StoreError::Conflict {
        run: run.to_owned(),
        expected,
    }
}
