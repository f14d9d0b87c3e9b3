use std::path::PathBuf;
use std::time::Duration;

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A name, a log or an id that could mean something else in a key.
    #[error(
        "`{name}` cannot be a name here; write 1 to {longest} ASCII letters, digits or any of `_ - . #`"
    )]
    Name {
        /// As it was given, escaped and shortened.
        name: String,
        /// How many characters there may be.
        longest: usize,
    },
    /// A value that is too long.
    #[error(
        "a {what} of {bytes} bytes is more than the {most} allowed; keep less of it, or raise the limit of the store"
    )]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// As many as there may be are there already.
    #[error(
        "there are {most} {what} already; forget what has ended, or raise the limit of the store"
    )]
    Full {
        /// Of what there may be no more.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// The server did not answer in time, or cannot be reached; a write may have been made, or may still be.
    #[error(
        "the store at {address} did not answer within {after:?} ({attempts} attempts; {reason}); see that the server runs and can be reached, then ask again"
    )]
    Unavailable {
        /// Where the server should be.
        address: String,
        /// What went wrong last.
        reason: String,
        /// How often it was tried; 0 when it was not, because it failed too often just before.
        attempts: u32,
        /// How long it was tried.
        after: Duration,
    },
    /// More is asked of the store at once than it takes; nothing was done.
    #[error("{most} operations wait for the store already; ask again later, or for less at once")]
    Overloaded {
        /// How many may wait.
        most: usize,
    },
    /// The server answered that it will not.
    #[error("the store at {address} refused: {reason}; {advice}")]
    Refused {
        /// Where the server is.
        address: String,
        /// What it said.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// The store was set up in a way that cannot work.
    #[error("`{option}` of the store cannot be used: {reason}")]
    Options {
        /// Which setting.
        option: &'static str,
        /// What is wrong with it; no secret is in it.
        reason: String,
    },
    /// Another process has the file open.
    #[error("{} is open in another process; stop it, or give each backend a file of its own, or use Redis for several backends", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is no store: {reason}; give the path of a store, or of a file that is not there yet", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by a newer version of this crate.
    #[error("{} has format {found}, and this version reads {known}; use the version that wrote it, or newer", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: u64,
        /// The format that is read.
        known: u64,
    },
    /// The file could not be opened, or made.
    #[error("{} cannot be opened: {reason}; give the path of a file in a folder that is there, both to be read and written", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file could not be read or written; nothing more is taken until the store is opened again.
    #[error("{} cannot be used any more: {reason}; free room or repair the disk, then open the store again", path.display())]
    File {
        /// The file, or `(memory)`.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// What was read is not what was written.
    #[error("`{what}` is damaged: {reason}; restore the store from a copy, or forget the task")]
    Damaged {
        /// What was read.
        what: String,
        /// How it shows.
        reason: String,
    },
    /// Something else is kept under the name already.
    #[error("`{name}` is kept already and says something else")]
    Conflict {
        /// The name.
        name: String,
    },
    /// The store has been closed.
    #[error("the store is closed; open it again")]
    Closed,
}
