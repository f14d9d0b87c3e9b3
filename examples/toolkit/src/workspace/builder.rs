//! Lending folders to tools, and on what terms.

use std::io;
use std::path::{Path, PathBuf};

use super::{FolderLocks, Limits, Protected, Root, Rules, Workspace};
use crate::files::replace;
use crate::sandbox::{Sandbox, sweep};

/// Collects the folders and rules of a [`Workspace`].
///
/// ```
/// use toolkit::{Limits, Workspace};
///
/// # let folder = tempfile::tempdir()?;
/// let workspace = Workspace::builder()
///     .root(folder.path())
///     .limits(Limits { read_characters: 20_000, ..Limits::default() })
///     .protect("deploy/keys")
///     .build()?;
/// assert_eq!(workspace.roots().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkspaceBuilder {
    roots: Vec<PathBuf>,
    limits: Limits,
    rules: Rules,
    protected: Vec<PathBuf>,
    sandbox: Sandbox,
}

/// Why a [`Workspace`] was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// No folder was given.
    #[error("a workspace needs at least one root; give one with `.root(..)`")]
    NoRoot,
    /// A folder could not be opened.
    #[error("the root `{}` cannot be opened: {source}; give the path of an existing folder", path.display())]
    Root {
        /// As it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// One root lies in another, so that one file would have two names.
    #[error("the root `{}` lies within the root `{}`; give one of them", inner.display(), outer.display())]
    Nested {
        /// The root further down.
        inner: PathBuf,
        /// The root that holds it.
        outer: PathBuf,
    },
    /// A protected path must be names below a folder.
    #[error("the protected path `{}` must be one or more names, as in `.git/config`", path.display())]
    Protected {
        /// As it was given.
        path: PathBuf,
    },
}

impl Default for WorkspaceBuilder {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            limits: Limits::default(),
            rules: Rules {
                follow_links: true,
                cross_mounts: false,
            },
            protected: Vec::new(),
            sandbox: Sandbox::default(),
        }
    }
}

impl WorkspaceBuilder {
    /// Lends a folder, with all that is in it. The first is where relative paths start.
    pub fn root(mut self, path: impl AsRef<Path>) -> Self {
        self.roots.push(path.as_ref().to_owned());
        self
    }

    /// Sets how much the tools take and give.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Says whether symbolic links that stay within their root are followed; they are, unless this says otherwise.
    /// Links that lead out never are.
    pub fn follow_links(mut self, follow: bool) -> Self {
        self.rules.follow_links = follow;
        self
    }

    /// Says whether what is mounted below a root belongs to it; it does not, unless this says so.
    pub fn cross_mounts(mut self, cross: bool) -> Self {
        self.rules.cross_mounts = cross;
        self
    }

    /// Keeps a path from being written, at any depth of any root, with all that is below it, whether it exists or not.
    ///
    /// The repository is protected from the start, the whole of every `.git`, for tools and commands alike. With
    /// [`writable_repository`](Sandbox::writable_repository), what git runs or obeys stays protected: `.git/hooks`,
    /// `.git/config`, `.git/config.worktree`, `.git/commondir`, `.git/modules`, `.git/worktrees`, `.git/rebase-merge`,
    /// `.git/rebase-apply`, `.git/sequencer`, and a *file* named `.git`. Where the `.git` of a root is a link or a file, the
    /// same holds for the folder that it names, if that is in a root.
    ///
    /// The tools for files keep to this at any depth, commands at the top of each root only. So a command can make or change
    /// a repository further down, or one without a work tree, and git obeys what it wrote when it is run inside of that
    /// folder (`safe.bareRepository=explicit` in the settings of the user helps against the latter). What the settings of a
    /// repository name in its work tree, by `core.hooksPath` or `include.path`, must be named here to be protected.
    pub fn protect(mut self, path: impl AsRef<Path>) -> Self {
        self.protected.push(path.as_ref().to_owned());
        self
    }

    /// Sets how commands are kept apart from the machine.
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Opens the roots, and begins to remove what programs left behind that were killed: unfinished files in the roots and,
    /// once in each program, the temporary folders of their commands.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError::NoRoot`] without a root, [`WorkspaceError::Root`] for one that cannot be opened,
    /// [`WorkspaceError::Nested`] for one within another, [`WorkspaceError::Protected`] for a protected path that is not
    /// made of names.
    pub fn build(self) -> Result<Workspace, WorkspaceError> {
        if self.roots.is_empty() {
            return Err(WorkspaceError::NoRoot);
        }
        let mut roots: Vec<Root> = Vec::with_capacity(self.roots.len());
        for path in self.roots {
            let root = Root::open(&path).map_err(|source| WorkspaceError::Root { path, source })?;
            for other in &roots {
                let (inner, outer) = if root.path.starts_with(&other.path) {
                    (&root, other)
                } else {
                    (other, &root)
                };
                if inner.path.starts_with(&outer.path) {
                    return Err(WorkspaceError::Nested {
                        inner: inner.path.clone(),
                        outer: outer.path.clone(),
                    });
                }
            }
            replace::sweep(&root.handle);
            roots.push(root);
        }
        if let Some(path) = self.protected.iter().find(|path| !is_names(path)) {
            return Err(WorkspaceError::Protected { path: path.clone() });
        }
        sweep();
        Ok(Workspace {
            roots,
            limits: self.limits,
            rules: self.rules,
            protected: Protected::new(self.protected, self.sandbox.repository),
            sandbox: self.sandbox,
            locks: FolderLocks::default(),
        })
    }
}

fn is_names(path: &Path) -> bool {
    let mut components = path.components().peekable();
    components.peek().is_some()
        && components.all(|component| matches!(component, std::path::Component::Normal(_)))
}
