//! What neither a tool for files nor a command writes: one list for both.

use std::path::PathBuf;

use super::REPOSITORY;

/// What git runs or obeys on the next `git status` of whoever owns the folder (gitrepository-layout(5), git-config(1)), and
/// lists of steps that the next `git rebase --continue`, `git am --continue` or `git cherry-pick --continue` takes: an `exec`
/// in one is a command (git-rebase(1)).
const OBEYED: [&str; 9] = [
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules",
    ".git/worktrees",
    ".git/rebase-merge",
    ".git/rebase-apply",
    ".git/sequencer",
];

/// Paths that are not written, at any depth, whether they exist or not.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    /// What git obeys, and what the program names.
    paths: Vec<PathBuf>,
    /// The whole of a repository, and what the program names outside of one; nothing if a repository can be written.
    whole: Option<Vec<PathBuf>>,
}

impl Protected {
    pub(super) fn new(named: Vec<PathBuf>, writable_repository: bool) -> Self {
        let obeyed = OBEYED.map(PathBuf::from);
        let paths: Vec<PathBuf> = obeyed.into_iter().chain(named).collect();
        let whole = (!writable_repository).then(|| {
            let others = paths.iter().filter(|path| !path.starts_with(REPOSITORY));
            let whole = PathBuf::from(REPOSITORY);
            [whole].into_iter().chain(others.cloned()).collect()
        });
        Self { paths, whole }
    }

    /// The paths that nothing writes.
    pub(crate) fn rules(&self) -> &[PathBuf] {
        self.whole.as_ref().unwrap_or(&self.paths)
    }

    /// The same with what git obeys in the place of a whole repository: where that cannot be sealed, or is what the program
    /// lends, or does not exist yet.
    pub(crate) fn parts(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether nothing of a repository is written.
    pub(crate) fn has_whole_repositories(&self) -> bool {
        self.whole.is_some()
    }
}
