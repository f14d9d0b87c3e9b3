//! Errors of the journal.

use std::path::PathBuf;

use crate::protocol::CallKey;

/// An error of a [`Journal`](super::Journal); a call whose step was not written must not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file could not be opened or created.
    #[error("the journal {} cannot be opened: {reason}", path.display())]
    Open {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// The file is already open, in this process or in another one.
    #[error("the journal {} is open elsewhere; give each executor a file of its own", path.display())]
    InUse {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is not a journal, and was left as it is.
    #[error("{} is not a journal, and was left as it is; name a file that does not exist yet", path.display())]
    NotAJournal {
        /// The path of the file.
        path: PathBuf,
    },
    /// A later release wrote the file.
    #[error(
        "the journal {} has format {found}, and this release reads up to {supported}; \
         use the release that wrote it, or name a new file",
        path.display()
    )]
    NewerFormat {
        /// The path of the file.
        path: PathBuf,
        /// The format of the file.
        found: u32,
        /// The supported format.
        supported: u32,
    },
    /// Another program has changed the file, so its record of calls cannot be trusted.
    #[error(
        "the journal {} is damaged: {reason}; keep it for a closer look, and name a new file",
        path.display()
    )]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// What is inconsistent.
        reason: String,
    },
    /// A step could not be written, and no further ones are accepted: only reopening the file tells what is on disk.
    #[error(
        "the journal {} could not be written, and accepts nothing more until it is opened again: {reason}",
        path.display()
    )]
    Stopped {
        /// The path of the file.
        path: PathBuf,
        /// The first failure.
        reason: String,
    },
    /// The journal holds too many results that backends have not acknowledged.
    #[error(
        "the journal {} holds {calls} calls ({bytes} bytes of results) that no backend has acknowledged, and accepts no new ones; \
         let their backends come back, or name a new file",
        path.display()
    )]
    Full {
        /// The path of the file.
        path: PathBuf,
        /// The number of calls.
        calls: usize,
        /// The total size of their results.
        bytes: u64,
    },
    /// A step does not follow from the previous one; nothing was changed.
    #[error("call {key} cannot be {step}: it is {found}")]
    OutOfOrder {
        /// The call.
        key: CallKey,
        /// The requested step.
        step: &'static str,
        /// The state of the call.
        found: &'static str,
    },
}
