use std::pin::Pin;

use super::StoreError;

/// What a store is asked for, on its way.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A value as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// How often the name was written, from 1.
    pub version: u64,
    /// What was written last.
    pub value: String,
}

impl Stored {
    /// A value and how often its name was written.
    #[must_use]
    pub fn new(version: u64, value: impl Into<String>) -> Self {
        Self {
            version,
            value: value.into(),
        }
    }
}

/// What must be there for a write to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Anything, or nothing.
    Any,
    /// Nothing.
    Absent,
    /// This version; versions count from 1, so 0 is never there.
    Version(u64),
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// It was made.
    Done {
        /// The version it made.
        version: u64,
    },
    /// It was not made: something else is there.
    Conflict {
        /// What is there.
        there: Option<Stored>,
    },
}

/// One entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logged {
    /// Its place, from 1.
    pub sequence: u64,
    /// What tells it from others, given by its author.
    pub id: String,
    /// What it says.
    pub value: String,
}

impl Logged {
    /// An entry and its place.
    #[must_use]
    pub fn new(sequence: u64, id: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            sequence,
            id: id.into(),
            value: value.into(),
        }
    }
}

/// A piece of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tail {
    /// The entries, oldest first.
    pub entries: Vec<Logged>,
    /// The entries up to this sequence number were cut; 0 when none was. Where it is above the number that was asked
    /// for, entries are missing in between.
    pub cut: u64,
    /// The sequence number of the newest entry of the log; 0 when it has none.
    pub last: u64,
}
