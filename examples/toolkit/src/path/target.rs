//! A place to write: the folder as a handle, and one name in it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::escape::is_invisible;
use super::open::is_link;
use super::{CreatedFolders, RootedPath, escape_path};
use crate::files::replace;
use crate::problem::{Kind, Problem};
use crate::workspace::{REPOSITORY, Root};

/// A name in a folder that is open, within a root, and not protected.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) folder: Dir,
    pub(crate) name: OsString,
    pub(crate) made: CreatedFolders,
}

impl<'w> RootedPath<'w> {
    /// Where to write, if that is allowed; with `parents`, folders that are missing are made.
    ///
    /// A link at the end is followed to what it points to, because replacing the link would leave its file as it was.
    pub(crate) fn target(&self, parents: bool) -> Result<Target, Problem> {
        self.through_links(|rooted, is_link| {
            let target = rooted.target_beneath(parents)?;
            let found = target.folder.symlink_metadata(&target.name);
            match found {
                Err(error) if is_link && error.kind() == io::ErrorKind::NotFound => {
                    Err(rooted.points_to_nothing())
                }
                _ => Ok(target),
            }
        })
    }

    fn target_beneath(&self, parents: bool) -> Result<Target, Problem> {
        if is_link(&self.root.handle, &self.path) {
            if !self.workspace.rules.follow_links {
                return Err(self.link());
            }
            let path = self.root.handle.canonicalize(&self.path).map_err(|error| {
                if error.kind() == io::ErrorKind::NotFound {
                    self.points_to_nothing()
                } else {
                    self.problem("follow", error)
                }
            })?;
            return self.at(path).target_at_end(parents);
        }
        self.target_at_end(parents)
    }

    fn target_at_end(&self, parents: bool) -> Result<Target, Problem> {
        let Some(Component::Normal(name)) = self.path.components().next_back() else {
            return Err(self.is_folder());
        };
        // `Path` forgives these at the end, which say that a folder is meant.
        if self.shown.ends_with('/') || self.shown.ends_with("/.") {
            return Err(self.is_folder());
        }
        if name
            .as_encoded_bytes()
            .starts_with(replace::PREFIX.as_bytes())
        {
            return Err(self.protected(&format!("{}*", replace::PREFIX)));
        }
        let parent = self.path.parent().unwrap_or(Path::new(""));
        let mut made = CreatedFolders::default();
        let folder = self.descend(parent, parents, &mut made)?;
        self.must_be_on_mount(&folder)?;
        self.must_not_be_protected(&folder, name)?;
        if is_link(&folder, Path::new(name)) {
            return Err(self.link());
        }
        Ok(Target {
            folder,
            name: name.to_owned(),
            made,
        })
    }

    /// Opens a folder one name at a time, so that each that is missing can be made in a folder that is known.
    fn descend(
        &self,
        parent: &Path,
        parents: bool,
        made: &mut CreatedFolders,
    ) -> Result<Dir, Problem> {
        let problem = |error| self.problem("open", error);
        let whole = self.at(parent.join("."));
        match whole.open_folder_beneath() {
            Err(Problem::NotFound { .. }) if parents => {}
            other => return other,
        }
        let mut folder = self.root.handle.try_clone().map_err(problem)?;
        let mut walked = PathBuf::new();
        for component in parent.components() {
            walked.push(component);
            match self.at(walked.join(".")).open_folder_beneath() {
                Ok(next) => folder = next,
                Err(Problem::NotFound { .. }) => {
                    let Component::Normal(name) = component else {
                        return whole.open_folder_beneath();
                    };
                    self.must_not_be_protected(&folder, name)?;
                    match folder.create_dir(name) {
                        Ok(()) => made.push(folder.try_clone().map_err(problem)?, name.to_owned()),
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                        Err(error) => return Err(self.problem("make a folder for", error)),
                    }
                    folder = folder.open_dir_nofollow(name).map_err(|error| {
                        if is_link(&folder, Path::new(name)) {
                            self.link()
                        } else {
                            problem(error)
                        }
                    })?;
                }
                Err(problem) => return Err(problem),
            }
        }
        Ok(folder)
    }

    /// Asks once more, right before something is put there, because an open folder can be moved.
    pub(crate) fn must_still_be_allowed(&self, target: &Target) -> Result<(), Problem> {
        self.must_not_be_protected(&target.folder, &target.name)
    }

    /// Asks where the folder really is, so that no link gives a protected path another name.
    fn must_not_be_protected(&self, folder: &Dir, name: &OsStr) -> Result<(), Problem> {
        let real = |folder| real_path(folder).map_err(|error| self.problem("find", error));
        let path = real(folder)?;
        let Ok(path) = path.strip_prefix(real(&self.root.handle)?) else {
            return Err(self.workspace.outside(self.shown.clone()));
        };
        let protected = &self.workspace.protected;
        let mut names = vec![(path.join(name), protected.rules())];
        // What is in a folder that some `.git` leads to is what git finds in that.
        let (real, root) = (real(folder)?.join(name), real(&self.root.handle)?);
        for repository in self.workspace.roots.iter().flat_map(Root::repositories) {
            if let Ok(within) = real.strip_prefix(&repository) {
                // A root that is a repository itself, or lies in one, stays a root.
                let is_lent = root.starts_with(&repository);
                let rules = if is_lent {
                    protected.parts()
                } else {
                    protected.rules()
                };
                names.push((Path::new(REPOSITORY).join(within), rules));
            }
        }
        let touched = |(path, rules): &(PathBuf, &'w [PathBuf])| {
            rules.iter().find(|rule| touches(path, rule))
        };
        match names.iter().find_map(touched) {
            Some(rule) => Err(self.protected(&escape_path(rule))),
            None => Ok(()),
        }
    }

    fn protected(&self, rule: &str) -> Problem {
        Problem::Protected {
            path: self.shown.clone(),
            rule: rule.to_owned(),
        }
    }

    fn points_to_nothing(&self) -> Problem {
        Problem::NotAFile {
            path: self.shown.clone(),
            kind: Kind::Link,
            hint: "it points to nothing; choose another path".to_owned(),
        }
    }

    fn is_folder(&self) -> Problem {
        Problem::NotAFile {
            path: self.shown.clone(),
            kind: Kind::Folder,
            hint: "give the path of a file".to_owned(),
        }
    }
}

/// Whether writing a path would write what the rule names, or something below it, or stand in the way of it: a file named
/// `.git` leads git to a folder of the writer's choice.
fn touches(path: &Path, rule: &Path) -> bool {
    let names: Vec<String> = path.iter().map(folded).collect();
    let rule: Vec<String> = rule.iter().map(folded).collect();
    let within = names.windows(rule.len()).any(|window| window == rule);
    within || (1..rule.len()).any(|part| names.ends_with(&rule[..part]))
}

/// Names are compared as the most forgiving file system does: `.GIT` is `.git` where case is folded, and HFS+ leaves out
/// characters that are not seen (CVE-2014-9390). The long s and the Kelvin sign fold only by way of the other case. FAT and
/// NTFS leave out dots and blanks at the end, take what follows a colon for a stream of the file, and know `.git` as `git~1`
/// too (CVE-2019-1352, CVE-2019-1353).
fn folded(name: &OsStr) -> String {
    let name = name.to_string_lossy().to_uppercase().to_lowercase();
    let name: String = name
        .chars()
        .filter(|character| !is_invisible(*character))
        .collect();
    let name = name.split(':').next().unwrap_or_default();
    let name = name.trim_end_matches(['.', ' ']);
    let short = name.strip_prefix("git~").unwrap_or_default();
    if !short.is_empty() && short.bytes().all(|byte| byte.is_ascii_digit()) {
        return REPOSITORY.to_owned();
    }
    name.to_owned()
}

/// Where an open folder is now, as the system says.
fn real_path(folder: &Dir) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd as _;

    std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::touches;

    /// P9
    #[test]
    fn a_rule_holds_at_any_depth_and_below_itself_and_for_what_stands_in_its_way() {
        let rule = Path::new(".git/hooks");
        for path in [
            ".git",
            ".git/hooks",
            ".git/hooks/pre-commit",
            "a/b/.git/hooks/x",
            "a/.git",
            ".GIT/Hooks/x",
            ".git/hook\u{17f}/x",
            ".g\u{200c}it/hooks",
            ".git./hooks",
            ".git . /hooks/x",
            "a/git~1/hooks",
            "GIT~2/hooks",
            ".git::$INDEX_ALLOCATION/hooks",
            ".git/hooks:stream",
        ] {
            assert!(touches(Path::new(path), rule), "{path}");
        }
        for path in [
            "a",
            "git/hooks",
            ".git/index",
            ".git/hooks2",
            ".gitignore",
            "hooks/x",
            ".git/a/hooks",
            "git~/hooks",
            "git~x/hooks",
            "..git/hooks",
            ".git.d/hooks",
        ] {
            assert!(!touches(Path::new(path), rule), "{path}");
        }
    }
}
