//! Links that name what they point to by its whole path, where that lies below the root.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{RootedPath, means_folder};
use crate::problem::Problem;

/// As many as the system follows (`path_resolution`(7)).
const MOST: usize = 40;

impl RootedPath<'_> {
    /// Does something with this place, and once more with the place that its links lead to, where the system says that it
    /// leads out: beneath a handle it follows no link with a whole path, wherever that leads. The attempt is told whether it
    /// gets what a link at the end points to.
    pub(super) fn through_links<T>(
        &self,
        attempt: impl Fn(&Self, bool) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        match attempt(self, false) {
            Err(Problem::Outside { path, root }) => match self.followed()? {
                Some((rooted, is_link)) => attempt(&rooted, is_link),
                None => Err(Problem::Outside { path, root }),
            },
            other => other,
        }
    }

    /// The real path, from the root.
    pub(crate) fn real(&self) -> Result<PathBuf, Problem> {
        self.through_links(|rooted, _| {
            let real = rooted.root.handle.canonicalize(&rooted.path);
            real.map_err(|error| rooted.problem("open", error))
        })
    }

    /// Where the links on the way lead, if one of them has a whole path below the root, and none leads out; and whether one
    /// stands at the end.
    ///
    /// Only text is put together here. What comes of it is opened beneath the root as every path is, so nothing is gained by
    /// swapping a link in the meantime.
    fn followed(&self) -> Result<Option<(Self, bool)>, Problem> {
        if !self.workspace.rules.follow_links {
            return Ok(None);
        }
        let root = &self.root.handle;
        let mut ahead = names(&self.path);
        let (mut at, mut links) = (PathBuf::new(), 0);
        let (mut is_whole, mut is_link) = (false, false);
        let mut is_folder = must_be_folder(&self.path);
        while let Some(name) = ahead.pop() {
            if name == "." {
                continue;
            }
            if name == ".." {
                let stands_in_folder = at.as_os_str().is_empty()
                    || root.symlink_metadata(&at).is_ok_and(|at| at.is_dir());
                if !stands_in_folder {
                    // The system says what is wrong with it.
                    at.push(name);
                } else if !at.pop() {
                    return Ok(None);
                }
                continue;
            }
            let next = at.join(&name);
            let Ok(target) = root.read_link_contents(&next) else {
                at = next;
                continue;
            };
            links += 1;
            if links > MOST {
                return Err(self.link());
            }
            if ahead.is_empty() {
                is_link = true;
                is_folder |= must_be_folder(&target);
            }
            if target.is_absolute() {
                let Ok(within) = target.strip_prefix(&self.root.path) else {
                    return Ok(None);
                };
                is_whole = true;
                at = PathBuf::new();
                ahead.extend(names(within));
            } else {
                ahead.extend(names(&target));
            }
        }
        if at.as_os_str().is_empty() {
            at.push(".");
        } else if is_folder {
            at.push("");
        }
        Ok(is_whole.then(|| (self.at(at), is_link)))
    }
}

/// What the system takes as such; the components of a path leave a dot at the end out.
fn must_be_folder(path: &Path) -> bool {
    means_folder(path) || path.as_os_str().as_encoded_bytes().ends_with(b"/.")
}

/// The last one first.
fn names(path: &Path) -> Vec<OsString> {
    path.iter().rev().map(OsStr::to_owned).collect()
}
