//! The paths that no command may write: sealed where they exist, taken away where a command makes them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use super::copy::{Budget, Copy};
use super::ended::Restored;
use super::unlink_tree::UnlinkTarget;
use crate::path::escape_path;
use crate::workspace::{REPOSITORY, Root, Workspace};

/// What is to be done about protected paths, before a command and after it.
///
/// Looks only at the top of each root, and where a `.git` there leads: what a command clones further down is its own.
#[derive(Debug, Default)]
pub(super) struct Protection {
    can_seal: bool,
    /// What was too large to be copied.
    pub(super) unguarded: Vec<String>,
    budget: Budget,
    /// Absolute paths that exist and are not to be written.
    pub(super) sealed: BTreeSet<PathBuf>,
    /// Absolute paths of folders above them, which must keep their names.
    pub(super) pinned: BTreeSet<PathBuf>,
    /// Those of the sealed that are there only for this command.
    pub(super) stand_ins: Vec<PathBuf>,
    /// What must be afterwards as it was before.
    later: Vec<Later>,
}

#[derive(Debug)]
struct Later {
    root: Dir,
    path: PathBuf,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// There was nothing.
    Absent,
    /// A folder that stands there for the time of the command.
    Placeholder,
    /// No file may be there: it would lead git elsewhere.
    Folder,
    /// This. Only where it could not be sealed, and for links, which cannot be.
    Was(Copy),
}

/// What a command has left at a path.
enum PathState {
    AsItWas,
    /// Something else, now put aside, or nothing.
    Other(Option<UnlinkTarget>),
}

impl Protection {
    /// Where paths cannot be sealed, what is there is copied, and put back afterwards.
    pub(super) fn new(workspace: &Workspace, can_seal: bool) -> io::Result<Self> {
        let mut protection = Self::default();
        protection.can_seal = can_seal;
        for root in &workspace.roots {
            protection.add_rules(workspace, root)?;
            for repository in root.repositories() {
                protection.add_repository(workspace, &repository)?;
            }
        }
        let Self { sealed, pinned, .. } = &mut protection;
        pinned.retain(|path| !sealed.iter().any(|sealed| path.starts_with(sealed)));
        Ok(protection)
    }

    fn add_rules(&mut self, workspace: &Workspace, root: &Root) -> io::Result<()> {
        // Whoever could replace the helper would be outside with the next command.
        let helper = workspace.sandbox.chosen();
        let helper = helper
            .as_deref()
            .and_then(|path| path.strip_prefix(&root.path).ok());
        let is_whole =
            self.seals_repositories(workspace) && root.handle.symlink_metadata(REPOSITORY).is_ok();
        if is_whole {
            self.add(&root.handle, &root.path, Path::new(REPOSITORY))?;
        }
        let rules = workspace.protected.parts().iter().map(PathBuf::as_path);
        for rule in rules.chain(helper) {
            if !(is_whole && rule.starts_with(REPOSITORY)) {
                self.add(&root.handle, &root.path, rule)?;
            }
        }
        Ok(())
    }

    /// A repository that the `.git` of a root names, wherever in the roots it is.
    fn add_repository(&mut self, workspace: &Workspace, repository: &Path) -> io::Result<()> {
        for root in &workspace.roots {
            let Ok(within) = repository.strip_prefix(&root.path) else {
                continue;
            };
            // A root that is a repository itself stays a root.
            if self.seals_repositories(workspace) && within != Path::new("") {
                self.add(&root.handle, &root.path, within)?;
                continue;
            }
            for rule in workspace.protected.parts() {
                if let Ok(rest) = rule.strip_prefix(REPOSITORY) {
                    self.add(&root.handle, &root.path, &within.join(rest))?;
                }
            }
        }
        Ok(())
    }

    /// Where paths cannot be sealed, a repository is too much to be copied, and only what git obeys is.
    fn seals_repositories(&self, workspace: &Workspace) -> bool {
        self.can_seal && workspace.protected.has_whole_repositories()
    }

    fn add(&mut self, root: &Dir, base: &Path, rule: &Path) -> io::Result<()> {
        let mut walked = PathBuf::new();
        let mut names = rule.iter().peekable();
        while let Some(name) = names.next() {
            walked.push(name);
            let is_last = names.peek().is_none();
            let kind = match root.symlink_metadata(&walked) {
                Ok(metadata) => metadata.file_type(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if !is_last && walked.as_os_str() == OsStr::new(REPOSITORY) {
                        self.stand_in(root, base)?;
                    }
                    return self.watch(root, rule, State::Absent);
                }
                Err(error) => return Err(error),
            };
            let path = base.join(&walked);
            if is_last || !kind.is_dir() {
                if self.can_seal && !kind.is_symlink() {
                    self.sealed.insert(path);
                    return Ok(());
                }
                let Ok(copy) = Copy::take(root, &walked, &mut self.budget) else {
                    self.unguarded.push(escape_path(&walked));
                    return Ok(());
                };
                return self.watch(root, &walked, State::Was(copy));
            }
            self.pinned.insert(path);
        }
        Ok(())
    }

    /// A command that made a repository where there is none could have programs of its own run by the next `git status` of whoever
    /// owns the folder, so an empty folder stands there while it runs.
    fn stand_in(&mut self, root: &Dir, base: &Path) -> io::Result<()> {
        match root.create_dir(REPOSITORY) {
            Ok(()) => {
                self.watch(root, Path::new(REPOSITORY), State::Placeholder)?;
                self.stand_ins.push(base.join(REPOSITORY));
            }
            // Another command's, perhaps, which may take it away.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.watch(root, Path::new(REPOSITORY), State::Folder)?;
            }
            Err(error) => return Err(error),
        }
        self.sealed.insert(base.join(REPOSITORY));
        Ok(())
    }

    fn watch(&mut self, root: &Dir, path: &Path, state: State) -> io::Result<()> {
        self.later.push(Later {
            root: root.try_clone()?,
            path: path.to_owned(),
            state,
        });
        Ok(())
    }

    /// The paths that may have to be put back.
    pub(super) fn watched(&self) -> Vec<String> {
        let paths = self.later.iter().map(|later| escape_path(&later.path));
        paths.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Puts everything back, and names what had been made or changed. To be called when no process is left.
    pub(super) fn restore(&mut self) -> Restored {
        let (mut removed, mut not_removed) = (BTreeSet::new(), BTreeSet::new());
        let mut aside = Vec::new();
        let later: Vec<Later> = self.later.drain(..).collect();
        // Everything is out of force before anything is removed, which may take long. What was noted first is the folder
        // around the rest.
        for later in later.iter().rev() {
            match later.put_back() {
                Ok(PathState::AsItWas) => {}
                Ok(PathState::Other(target)) => aside.push((later, target)),
                Err(error) => {
                    not_removed.insert(later.describe(&error));
                }
            }
        }
        for (later, target) in aside {
            let outcome = target.map_or(Ok(()), |mut target| {
                target.remove().map_err(|error| {
                    let name = escape_path(Path::new(target.name()));
                    io::Error::new(error.kind(), format!("{error}, now named {name}"))
                })
            });
            match outcome {
                Ok(()) => removed.insert(escape_path(&later.path)),
                Err(error) => not_removed.insert(later.describe(&error)),
            };
        }
        for later in &later {
            if let Err(error) = later.remove_placeholder() {
                not_removed.insert(later.describe(&error));
            }
        }
        Restored {
            removed: removed.into_iter().collect(),
            not_removed: not_removed.into_iter().collect(),
        }
    }
}

impl Drop for Protection {
    fn drop(&mut self) {
        self.restore();
    }
}

impl Later {
    /// Puts aside what should not be there, and puts there what should. What was put aside is to be removed.
    fn put_back(&self) -> io::Result<PathState> {
        let found = UnlinkTarget::find(&self.root, &self.path)?;
        match &self.state {
            State::Placeholder | State::Folder
                if found.as_ref().is_none_or(UnlinkTarget::is_folder) =>
            {
                Ok(PathState::AsItWas)
            }
            State::Absent | State::Placeholder | State::Folder => {
                let Some(mut target) = found else {
                    return Ok(PathState::AsItWas);
                };
                rename_aside(&mut target)?;
                Ok(PathState::Other(Some(target)))
            }
            State::Was(copy) => {
                let now = Copy::take(&self.root, &self.path, &mut Budget::default());
                if now.is_ok_and(|now| now == *copy) {
                    return Ok(PathState::AsItWas);
                }
                let mut found = found;
                if let Some(target) = &mut found {
                    rename_aside(target)?;
                }
                if let Some(parent) = self.path.parent() {
                    // If it is not there then, the next line says so.
                    let _ = self.root.create_dir_all(parent);
                }
                copy.put(&self.root, &self.path)?;
                Ok(PathState::Other(found))
            }
        }
    }

    /// Only while it is empty: whoever put something there from outside may keep it.
    fn remove_placeholder(&self) -> io::Result<()> {
        if self.state == State::Placeholder
            && let Some(mut target) = UnlinkTarget::find(&self.root, &self.path)?
            && target.is_folder()
        {
            target.remove_empty()?;
        }
        Ok(())
    }

    fn describe(&self, error: &io::Error) -> String {
        format!("{}: {error}", escape_path(&self.path))
    }
}

/// A folder that takes no other name may still let go of what is in it.
fn rename_aside(target: &mut UnlinkTarget) -> io::Result<()> {
    target.rename_aside().or_else(|_| target.remove())
}
