//! The types of the `Store` interface.

use std::pin::Pin;

use super::StoreError;

/// The future of a store operation.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A stored value and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// The number of times the name was written, from 1.
    pub version: u64,
    /// The last value written.
    pub value: String,
}

impl Stored {
    /// Creates a value with the number of times its name was written.
    #[must_use]
    pub fn new(version: u64, value: impl Into<String>) -> Self {
        Self {
            version,
            value: value.into(),
        }
    }
}

/// The precondition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No precondition.
    Any,
    /// There is no value.
    Absent,
    /// The value has this version; versions count from 1, so 0 never matches.
    Version(u64),
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// The value was written.
    Done {
        /// The new version.
        version: u64,
    },
    /// Nothing was written: the precondition did not hold.
    Conflict {
        /// The current value.
        current: Option<Stored>,
    },
}

/// One entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logged {
    /// Its sequence number, from 1.
    pub sequence: u64,
    /// The id that its writer chose.
    pub id: String,
    /// The value.
    pub value: String,
}

impl Logged {
    /// Creates an entry at this position of the log.
    #[must_use]
    pub fn new(sequence: u64, id: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            sequence,
            id: id.into(),
            value: value.into(),
        }
    }
}

/// A slice of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tail {
    /// The entries, oldest first.
    pub entries: Vec<Logged>,
    /// The highest sequence number that was dropped; 0 if none was. If it is above the requested number, entries are
    /// missing in between.
    pub cut: u64,
    /// The sequence number of the newest entry of the log; 0 when it has none.
    pub last: u64,
}
