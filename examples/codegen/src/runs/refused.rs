//! The limits of requests, and why a request is refused.

use crate::contract::{IllegalStep, RunState};

/// Runs that may wait for their turn.
pub(super) const WAITING: usize = 32;

/// The longest message, in bytes: a task, not a file.
const LONGEST: usize = 20_000;

/// Why something is not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is nothing to do.
    #[error("the message is empty; say what to do")]
    Empty,
    /// The message is too long.
    #[error(
        "the message has {bytes} bytes, and {LONGEST} are the limit; put long texts into files of the project"
    )]
    Long {
        /// How long it is.
        bytes: usize,
    },
    /// There is no such run.
    #[error("there is no such session; leave `session_id` out to begin one")]
    Unknown,
    /// The run is not waiting for anything.
    #[error("the session is {}; {advice}", state.name())]
    NotWaiting {
        /// Where it is.
        state: RunState,
        /// What to do.
        advice: &'static str,
    },
    /// Another backend has it.
    #[error(
        "the backend `{owner}` has the session, which is {}; follow it here, answer when it asks again, or cancel it", state.name()
    )]
    Elsewhere {
        /// Which.
        owner: String,
        /// Where the session is.
        state: RunState,
    },
    /// There is nobody here who could act.
    #[error(
        "the session waits at the backend `{owner}`, and no executor has dialled in to this one; answer there, or let one dial in here"
    )]
    NoExecutor {
        /// Where it waits.
        owner: String,
    },
    /// The decision is on nothing that is asked.
    #[error("no call waits for this decision; look at the run again")]
    NotAsked,
    /// The answers do not fit the questions.
    #[error("{0}")]
    Answers(String),
    /// Too many wait already.
    #[error("{WAITING} sessions wait already; try again later")]
    Busy,
    /// The backend is about to end.
    #[error("the backend is about to end; try again later")]
    Closing,
    /// The run has moved on meanwhile.
    #[error(transparent)]
    Step(#[from] IllegalStep),
    /// The store does not take it.
    #[error("the store does not take it: {0}")]
    Store(String),
}

/// Whether a text can be given to a model.
pub(super) fn judge(text: &str) -> Result<(), Refused> {
    if text.trim().is_empty() {
        return Err(Refused::Empty);
    }
    if text.len() > LONGEST {
        return Err(Refused::Long { bytes: text.len() });
    }
    Ok(())
}
