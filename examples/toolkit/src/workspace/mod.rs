//! What a program lends to the tools: folders, limits and rules.

mod builder;
mod limits;
pub(crate) mod locks;
mod protected;
mod repository;
mod root;

use std::path::Path;

pub use builder::{WorkspaceBuilder, WorkspaceError};
pub use limits::Limits;
pub(crate) use locks::{FolderLock, FolderLocks};
pub(crate) use protected::Protected;
pub(crate) use repository::REPOSITORY;
pub(crate) use root::Root;

use crate::sandbox::Sandbox;

/// The folders that the tools may touch, and on what terms; the tools take it as their `#[context]`.
///
/// A root is opened once, when the workspace is built. From then on everything is reached through that handle, so nothing
/// outside is reachable, whatever is swapped, linked or renamed in the meantime.
///
/// ```
/// use contract_runtime::Status;
/// use contract_runtime::prelude::*;
/// use toolkit::Workspace;
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("notes.txt"), "one\ntwo\n")?;
/// let registry = Registry::builder()
///     .package("toolkit")
///     .context(Workspace::new(folder)?)
///     .build()?;
///
/// let call = ToolCall::new("1", "read_file", r#"{"path": "notes.txt", "first_line": 2}"#);
/// let outcome = registry.call(call).blocking();
/// assert!(outcome.output().unwrap().contains(r#""text":"two\n""#));
///
/// let call = ToolCall::new("2", "read_file", r#"{"path": "/etc/passwd"}"#);
/// assert_eq!(registry.call(call).blocking().status(), Status::Failed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    pub(crate) roots: Vec<Root>,
    pub(crate) limits: Limits,
    pub(crate) rules: Rules,
    pub(crate) protected: Protected,
    pub(crate) sandbox: Sandbox,
    pub(crate) locks: FolderLocks,
}

/// What holds for every file, beyond its lying in a root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Symbolic links that stay within the root are followed.
    pub(crate) follow_links: bool,
    /// Files on other mounts below a root are within it.
    pub(crate) cross_mounts: bool,
}

impl Workspace {
    /// Opens a workspace of one folder, with the default limits and rules.
    ///
    /// # Errors
    ///
    /// When the folder cannot be opened.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        Self::builder().root(root).build()
    }

    /// Starts a workspace without a root.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }

    /// Returns the root in which relative paths and commands start.
    #[must_use]
    pub fn working_directory(&self) -> &Path {
        &self.first().path
    }

    /// Returns every root, the working directory first.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Returns how much the tools accept and return.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The builder refuses a workspace without a root.
    pub(crate) fn first(&self) -> &Root {
        &self.roots[0]
    }
}
