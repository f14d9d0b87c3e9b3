//! Errors of a store.

use std::path::PathBuf;
use std::time::Duration;

/// An error of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A name, a log or an id contains characters that could mean something else in a key.
    #[error(
        "`{name}` cannot be a name here; write 1 to {longest} ASCII letters, digits or any of `_ - . #`"
    )]
    Name {
        /// The given name, escaped and shortened.
        name: String,
        /// The maximum number of characters.
        longest: usize,
    },
    /// A value is too long.
    #[error(
        "a {what} of {bytes} bytes is more than the {most} allowed; store less of it, or raise the limit of the store"
    )]
    TooLarge {
        /// What is too long.
        what: &'static str,
        /// Its size in bytes.
        bytes: usize,
        /// The maximum size in bytes.
        most: usize,
    },
    /// The limit on a number of items is reached.
    #[error(
        "there are {most} {what} already; forget what has ended, or raise the limit of the store"
    )]
    Full {
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        most: u64,
    },
    /// The server did not answer in time, or cannot be reached; a write may have been made, or may still be.
    #[error(
        "the store at {address} did not answer within {after:?} ({attempts} attempts; {reason}); see that the server runs and can be reached, then ask again"
    )]
    Unavailable {
        /// The address of the server.
        address: String,
        /// The last failure.
        reason: String,
        /// The number of attempts; 0 if none was made, because too many failed just before.
        attempts: u32,
        /// How long attempts were made.
        after: Duration,
    },
    /// Too many operations wait for the store; nothing was done.
    #[error(
        "{most} operations are already waiting for the store; ask again later, or for less at once"
    )]
    Overloaded {
        /// How many may wait.
        most: usize,
    },
    /// The server refused the operation.
    #[error("the store at {address} refused: {reason}; {advice}")]
    Refused {
        /// The address of the server.
        address: String,
        /// The message of the server.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// The options of the store are invalid.
    #[error("`{option}` of the store cannot be used: {reason}")]
    Options {
        /// The setting.
        option: &'static str,
        /// What is wrong with it, without any secret.
        reason: String,
    },
    /// Another process has the file open.
    #[error("{} is open in another process; stop it, or give each backend a file of its own, or use Redis for several backends", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a store.
    #[error("{} is not a store: {reason}; give the path of a store, or of a file that is not there yet", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A newer version of this crate wrote the file.
    #[error("{} has format {found}, and this version reads {known}; use the version that wrote it, or newer", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: u64,
        /// The supported format.
        known: u64,
    },
    /// The file could not be opened or created.
    #[error("{} cannot be opened: {reason}; give the path of a file that can be read and written, in a folder that exists", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// The file could not be read or written; no operation is accepted until the store is opened again.
    #[error("{} cannot be used any more: {reason}; free room or repair the disk, then open the store again", path.display())]
    File {
        /// The file, or `(memory)`.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// The data read is not what was written.
    #[error("`{what}` is damaged: {reason}; restore the store from a copy, or forget the task")]
    Damaged {
        /// What was read.
        what: String,
        /// How the damage shows.
        reason: String,
    },
    /// Something else is already stored under the name.
    #[error("`{name}` is already stored with other contents")]
    Conflict {
        /// The name.
        name: String,
    },
    /// The store has been closed.
    #[error("the store is closed; open it again")]
    Closed,
}
