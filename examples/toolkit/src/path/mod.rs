//! From the text that a model sent to a handle in a root: every file is reached here.
//!
//! A path is taken apart as text only to choose its root. Whether it stays within is decided by the system, on the handle
//! (`openat2` with `RESOLVE_BENEATH`, through cap-std), in the moment in which it is opened.

mod created_folders;
mod escape;
mod links;
mod open;
mod suggestion;
mod target;

use std::io;
use std::path::{Component, Path, PathBuf};

pub(crate) use created_folders::{CreatedFolders, synchronise};
pub(crate) use escape::{escape, escape_path, push_escaped, unescape};
pub(crate) use open::{mount_of, open_entry};
pub(crate) use target::Target;

use crate::problem::Problem;
use crate::workspace::{Root, Workspace};

/// A path within a root, not yet opened.
#[derive(Debug)]
pub(crate) struct RootedPath<'w> {
    pub(crate) workspace: &'w Workspace,
    pub(crate) root: &'w Root,
    /// Relative to the root; `.` is the root itself.
    pub(crate) path: PathBuf,
    /// As it was given, fit to be shown.
    pub(crate) shown: String,
}

impl Workspace {
    /// Where a path leads, as far as its text says.
    pub(crate) fn resolve(&self, text: &str) -> Result<RootedPath<'_>, Problem> {
        let shown = escape(text);
        let outside = || self.outside(shown.clone());
        let path = &*unescape(text).ok_or_else(|| Problem::Backslash {
            path: shown.clone(),
        })?;
        // A shell would put a home here; a file of this name is `./~`.
        if path.as_os_str().as_encoded_bytes().starts_with(b"~") {
            return Err(outside());
        }
        let (root, path) = if path.is_absolute() {
            self.roots
                .iter()
                .find_map(|root| Some((root, path.strip_prefix(&root.path).ok()?)))
                .ok_or_else(outside)?
        } else {
            (self.first(), path)
        };
        let path = if self.rules.follow_links {
            path.to_owned()
        } else {
            // Without links, `a/..` is nothing but a detour.
            let mut plain = without_detours(path).ok_or_else(outside)?;
            if means_folder(path) && !plain.as_os_str().is_empty() {
                plain.push("");
            }
            plain
        };
        let path = if path.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            path
        };
        Ok(RootedPath {
            workspace: self,
            root,
            path,
            shown,
        })
    }

    fn outside(&self, path: String) -> Problem {
        Problem::Outside {
            path,
            root: escape_path(self.working_directory()),
        }
    }
}

impl RootedPath<'_> {
    /// What went wrong with this path, in the words of the model.
    pub(crate) fn problem(&self, operation: &'static str, source: io::Error) -> Problem {
        let path = self.shown.clone();
        // cap-std reports an escape by an error without a number, which no system call gives.
        if source.kind() == io::ErrorKind::PermissionDenied && source.raw_os_error().is_none() {
            return self.workspace.outside(path);
        }
        match source.kind() {
            io::ErrorKind::NotFound => Problem::NotFound {
                hint: self.nearest(),
                path,
            },
            io::ErrorKind::NotADirectory => Problem::NotFound {
                path,
                hint: "a part of it is a file, not a folder".to_owned(),
            },
            // Links that point to each other, and those of /proc that no path leads to.
            _ if rustix::io::Errno::from_io_error(&source) == Some(rustix::io::Errno::LOOP) => {
                self.link()
            }
            _ => Problem::System {
                operation,
                path,
                source,
            },
        }
    }

    /// The same place, further down or elsewhere in the root.
    fn at(&self, path: PathBuf) -> Self {
        Self {
            path,
            shown: self.shown.clone(),
            ..*self
        }
    }
}

/// A slash at the end says that a folder is meant.
fn means_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

fn without_detours(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(plain)
}
