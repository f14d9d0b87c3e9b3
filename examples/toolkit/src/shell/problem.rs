//! Why a command was not run.

use crate::problem::Problem;
use crate::sandbox::SandboxProblem;

/// Why a command was not run, or its report is missing: one sentence, and what to do instead.
///
/// A command that was run and went wrong is not a problem of the tool: see [`Ending`](super::Ending).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellProblem {
    /// The folder to run in cannot be had.
    #[error(transparent)]
    Folder(#[from] Problem),
    /// The command asks for more time than the workspace allows.
    #[error(
        "{asked} seconds are more than the {allowed} seconds that a command may run here; ask for at most {allowed}, and split what takes longer"
    )]
    TooLong {
        /// What was asked for, in seconds.
        asked: u32,
        /// What is allowed, in seconds.
        allowed: u64,
    },
    /// The sandbox did not run it.
    #[error(transparent)]
    Sandbox(#[from] SandboxProblem),
    /// The time was over before the command was started.
    #[error(
        "the command could not be started within {seconds} seconds, and nothing was run; try again with more time"
    )]
    Slow {
        /// What was asked for.
        seconds: u64,
    },
}
