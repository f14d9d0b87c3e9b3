//! `get_working_directory`

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::escape_path;
use crate::workspace::Workspace;

/// Where relative paths start, and what holds there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct WorkingDirectory {
    /// Where relative paths start, and commands too.
    pub path: String,
    /// Every folder that may be touched, with all that is in it; the first is `path`.
    pub roots: Vec<String>,
    /// Paths that cannot be written, at any depth of any root, with all that is below them.
    pub protected: Vec<String>,
    /// Symbolic links are followed, as long as they stay within their root.
    pub follows_links: bool,
    /// What is mounted below a root belongs to it.
    pub crosses_mounts: bool,
    /// What commands may do.
    pub commands: Commands,
    /// How much the tools take and give.
    pub limits: Bounds,
}

/// What the commands of `run_shell` may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Commands {
    /// They are kept apart from the machine, or else not run; without this they may do what the program may do.
    pub sandboxed: bool,
    /// They may use the network.
    pub network: bool,
    /// They may write the repository at the top of a root, but for what is protected: commit, for instance. Without this the
    /// whole of its `.git` is read-only for them.
    pub writable_repository: bool,
}

/// How much the tools take and give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Bounds {
    /// The most characters that one answer of `read_file` holds.
    pub read_characters: usize,
    /// The largest file that `read_file` looks into, in bytes.
    pub read_file_bytes: u64,
    /// The largest file that is written or edited, in bytes.
    pub write_file_bytes: u64,
    /// The most entries that `read_folder` gives.
    pub folder_entries: usize,
    /// The largest file that a search looks into, in bytes.
    pub search_file_bytes: u64,
    /// The longest that a command may run, in seconds.
    pub shell_seconds: u64,
}

/// Say where relative paths start, which folders may be touched, and what holds there: protected paths, links, commands, limits.
///
/// ```
/// use toolkit::{Workspace, get_working_directory};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().canonicalize()?;
/// let here = get_working_directory(&Workspace::new(&folder)?);
/// assert_eq!(here.path, folder.display().to_string());
/// assert_eq!(here.roots, [here.path]);
/// assert!(here.commands.sandboxed && !here.commands.network);
/// assert!(!here.commands.writable_repository);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[tool(
    read_only,
    open_world = false,
    description = "Say where relative paths start, which folders may be touched, and what holds there: protected paths, \
                   links, commands, limits."
)]
#[post(|here| here.roots.first() == Some(&here.path), "relative paths start in the first root")]
#[post(|here| here.roots.len() == workspace.roots().len(), "every root is named")]
#[must_use]
pub fn get_working_directory(#[context] workspace: &Workspace) -> WorkingDirectory {
    let limits = workspace.limits();
    let rules = &workspace.rules;
    WorkingDirectory {
        path: escape_path(workspace.working_directory()),
        roots: workspace.roots().map(escape_path).collect(),
        protected: workspace
            .protected
            .rules()
            .iter()
            .map(|path| escape_path(path))
            .collect(),
        follows_links: rules.follow_links,
        crosses_mounts: rules.cross_mounts,
        commands: Commands {
            sandboxed: workspace.sandbox.is_confined(),
            network: workspace.sandbox.has_network(),
            writable_repository: workspace.sandbox.has_writable_repository(),
        },
        limits: Bounds {
            read_characters: limits.read_characters,
            read_file_bytes: limits.read_file_bytes,
            write_file_bytes: limits.file_bytes,
            folder_entries: limits.folder_entries,
            search_file_bytes: limits.search_file_bytes,
            shell_seconds: limits.shell_time.as_secs(),
        },
    }
}
