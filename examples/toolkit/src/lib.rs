//! Files, search and a shell for language models: contracted tools that survive a hostile caller.
//!
//! The tools get a [`Workspace`] as their context, and reach nothing outside of its roots. Every refusal is a sentence
//! that a model can act on.
//!
//! | tool | does |
//! |---|---|
//! | [`read_file`] | gives the text of a file, or some of its lines |
//! | [`write_file`] | writes a whole file |
//! | [`edit_file`] | replaces a text in a file |
//! | [`read_folder`] | lists a folder |
//! | [`search_in_files`] | finds the lines that match a regular expression |
//! | [`run_shell`] | runs a program or a script |
//! | [`get_working_directory`] | says where relative paths start |

mod files;
mod path;
mod problem;
mod sandbox;
mod search;
mod shell;
mod workspace;

pub use files::{
    Bounds, Commands, Edited, Entry, FileText, Folder, Lines, Next, WorkingDirectory, Written,
    edit_file, get_working_directory, read_file, read_folder, write_file,
};
pub use problem::{Kind, Problem};
pub use sandbox::{Ended, Exit, Layers, Level, Limit, Sandbox, SandboxProblem, enter};
pub use search::{Case, Findings, Hit, HitError, SearchProblem, Skipped, Stop, search_in_files};
pub use shell::{CommandReport, Ending, ShellProblem, Stream, run_shell};
pub use workspace::{Limits, Workspace, WorkspaceBuilder, WorkspaceError};
