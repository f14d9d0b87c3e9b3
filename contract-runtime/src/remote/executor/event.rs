use std::time::Duration;

use crate::remote::protocol::{AgentDelta, Finished, Refusal};

/// What an executor tells whoever watches it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExecutorEvent {
    /// The backend has let it in.
    Attached {
        /// Counts the connections of the task, from 1.
        epoch: u64,
        /// The tools that were taken.
        toolbelt: Vec<String>,
        /// Those that were not.
        refused: Vec<Refusal>,
    },
    /// The connection broke; calls go on, and their results are kept.
    Lost {
        /// Why.
        reason: String,
    },
    /// It will dial again.
    Dialling {
        /// Which attempt in a row, from 1.
        attempt: u32,
        /// How many there are.
        of: u32,
        /// How long it waits before.
        after: Duration,
    },
    /// The backend has seen what it needs to begin.
    BootstrapFinished,
    /// The model says something.
    Said(AgentDelta),
    /// The task is over.
    Finished(Finished),
}
