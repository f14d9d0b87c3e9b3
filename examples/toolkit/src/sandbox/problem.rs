//! Why a command was not run, or not to its end.

use std::io;

/// Why a command was not run, or not to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxProblem {
    /// The machine lacks a layer without which no command is run.
    #[error(
        "no command can be run here: the sandbox lacks {layer} ({reason}); go on without commands, because only the \
         operator can change this, with another kernel or a workspace that says `unsandboxed`"
    )]
    Missing {
        /// Such as `landlock`.
        layer: String,
        /// What the system said.
        reason: String,
    },
    /// No program is known that can be the helper.
    #[error(
        "no command can be run here: this program did not call `toolkit::enter()` first in its `main`, and names no other \
         helper; go on without commands, because only the operator can change this"
    )]
    NoHelper,
    /// The command is not a program that can be run.
    #[error(
        "`{program}` cannot be run: {reason}; give a program that is installed, by its name or its whole path"
    )]
    NotRun {
        /// As it was given.
        program: String,
        /// Such as "not found".
        reason: String,
    },
    /// The helper could not be started.
    #[error("the command could not be started: {source}; try again, or go on without commands")]
    Start {
        /// What the system said.
        #[from]
        source: io::Error,
    },
    /// The helper went away without a word.
    #[error(
        "the command was ended from outside before it could finish; what it had done until then remains, so look before you try again"
    )]
    Lost,
}
