//! The events of an executor.

use std::time::Duration;

use crate::JournalError;
use crate::protocol::{AgentDelta, Finished, Refusal};

/// An event that an executor reports to its watcher.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExecutorEvent {
    /// The backend has accepted the executor.
    Attached {
        /// The number of this connection of the task, from 1.
        epoch: u64,
        /// The tools that were accepted.
        toolbelt: Vec<String>,
        /// The tools that were refused.
        refused: Vec<Refusal>,
    },
    /// The connection broke; calls continue, and their results are kept.
    Lost {
        /// The reason.
        reason: String,
    },
    /// The executor will reconnect.
    Reconnecting {
        /// The number of the attempt in a row, from 1.
        attempt: u32,
        /// The attempt after which it gives up, if [`Reconnect`](super::Reconnect) sets a limit.
        of: Option<u32>,
        /// How long it waits before the attempt.
        after: Duration,
    },
    /// The journal cannot be written, as on a full disk. New calls are refused as not run, running ones finish, and then
    /// the executor disconnects until the journal can be written again.
    JournalFailed {
        /// The error.
        error: JournalError,
    },
    /// The journal can be written again; the executor reconnects.
    JournalReopened,
    /// The backend has seen what it needs to begin.
    BootstrapFinished,
    /// A piece of the model's text.
    MessageDelta(AgentDelta),
    /// The task is over.
    Finished(Finished),
}
