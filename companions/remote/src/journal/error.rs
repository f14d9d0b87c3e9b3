use std::path::PathBuf;

use crate::remote::protocol::CallKey;

/// What can go wrong with a [`Journal`](super::Journal); a call whose step was not written down must not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file could not be opened or made.
    #[error("the journal {} cannot be opened: {reason}", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Somebody else has the file open, in this process or in another one.
    #[error("the journal {} is open elsewhere; give each executor a file of its own", path.display())]
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// The file holds something else, and was left as it is.
    #[error("{} is no journal, and was left as it is; name a file that does not exist yet", path.display())]
    NotAJournal {
        /// Which file.
        path: PathBuf,
    },
    /// A later release wrote the file.
    #[error(
        "the journal {} has format {found}, and this release reads up to {supported}; \
         use the release that wrote it, or name a new file",
        path.display()
    )]
    NewerFormat {
        /// Which file.
        path: PathBuf,
        /// What it has.
        found: u32,
        /// What is read here.
        supported: u32,
    },
    /// The file has been changed by something else; what it says of calls that ran cannot be believed.
    #[error(
        "the journal {} is damaged: {reason}; keep it for a closer look, and name a new file",
        path.display()
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// A step could not be written, and none is taken any more: what is on disk is known again when the file is opened anew.
    #[error(
        "the journal {} could not be written, and takes nothing more until it is opened again: {reason}",
        path.display()
    )]
    Stopped {
        /// Which file.
        path: PathBuf,
        /// What went wrong first.
        reason: String,
    },
    /// Too much is kept for backends that have not said they have it.
    #[error(
        "the journal {} holds {calls} calls ({bytes} bytes of results) that no backend has acknowledged, and takes no new one; \
         let their backends come back, or name a new file",
        path.display()
    )]
    Full {
        /// Which file.
        path: PathBuf,
        /// How many calls.
        calls: usize,
        /// How long their results are together.
        bytes: u64,
    },
    /// A step that does not follow from the one before; nothing was changed.
    #[error("call {key} cannot be {step}: it is {found}")]
    OutOfOrder {
        /// Which call.
        key: CallKey,
        /// What was asked for.
        step: &'static str,
        /// How far the call is.
        found: &'static str,
    },
}
