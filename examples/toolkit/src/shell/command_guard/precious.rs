//! What is too precious to be removed as a whole.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::expansion::{HOME, UNKNOWN};
use crate::path::escape;

/// Folders of the system, each with all that is in it (Filesystem Hierarchy Standard 3.0, section 3, and macOS).
const SYSTEM: [&str; 27] = [
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "cores",
    "private",
];

/// The same, one level further down.
const BELOW: [(&str, &[&str]); 2] = [
    (
        "usr",
        &[
            "bin", "include", "lib", "lib32", "lib64", "libexec", "local", "sbin", "share",
        ],
    ),
    ("var", &["cache", "lib", "log", "spool"]),
];

/// Where each folder is somebody's home.
const HOMES: [&str; 2] = ["home", "Users"];

/// No path is longer (`PATH_MAX` of Linux), and none that is precious is nearly as deep.
const LONGEST: usize = 4_096;
const DEEPEST: usize = 256;

/// The components of an absolute path, or of one that begins at the home folder.
type Names = Vec<String>;

/// The folders that a command may not lose.
#[derive(Debug)]
pub(super) struct Ground {
    roots: Vec<Names>,
}

/// Where a command runs, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Where(Option<Rc<Names>>);

/// Something that is too precious, in words.
#[derive(Debug)]
pub(super) struct Precious {
    pub(super) what: String,
    /// It is the workspace, or what holds it.
    pub(super) own: bool,
    /// Not the folder is meant, but all that is in it.
    pub(super) contents: bool,
}

impl Where {
    pub(super) fn new(directory: &Path) -> Self {
        Self(Some(Rc::default())).then(&directory.to_string_lossy())
    }

    pub(super) const fn unknown() -> Self {
        Self(None)
    }

    /// Where `cd` with this word leads.
    pub(super) fn then(&self, word: &str) -> Self {
        Self(self.resolve(word).map(Rc::new))
    }

    fn resolve(&self, word: &str) -> Option<Names> {
        if word.len() > LONGEST {
            return None;
        }
        let mut names = match word.chars().next()? {
            '/' | HOME => Vec::new(),
            _ => self.0.as_deref()?.clone(),
        };
        for name in word.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    // Above a home folder are the others.
                    if names.pop().is_some_and(|name| name == HOME.to_string()) {
                        names.push("home".to_owned());
                    }
                }
                name if name.contains(UNKNOWN) => return None,
                name => names.push(name.to_owned()),
            }
        }
        (names.len() <= DEEPEST).then_some(names)
    }
}

impl Ground {
    pub(super) fn new(roots: &[PathBuf]) -> Self {
        Self {
            roots: roots.iter().map(|root| names(root)).collect(),
        }
    }

    /// What would be lost with this path.
    pub(super) fn precious(&self, word: &str, place: &Where) -> Option<Precious> {
        let names = place.resolve(word)?;
        // All that is in a folder is the folder.
        let folder = match names.split_last() {
            Some((last, folder)) if is_everything(last) => folder,
            _ => names.as_slice(),
        };
        let path = escape(&word.replace(HOME, "~"));
        let precious = |what: &str, own| {
            let what = format!("`{path}`, {what}");
            let contents = folder.len() < names.len();
            Some(Precious {
                what,
                own,
                contents,
            })
        };
        if is_home(folder) {
            return precious("a home folder", false);
        }
        for root in &self.roots {
            if is_prefix(folder, root) && folder.len() == root.len() {
                return precious("the folder of the workspace itself", true);
            }
        }
        match folder {
            [] => return precious("the whole file system", false),
            [name] if among(name, &SYSTEM) => return precious("a folder of the system", false),
            // Not what is in it, which is nobody's for long.
            [name] if name == "tmp" && names.len() == 1 => {
                return precious("a folder of the system", false);
            }
            [above, name] => {
                for (folder, below) in BELOW {
                    if matches(above, folder) && among(name, below) {
                        return precious("a folder of the system", false);
                    }
                }
            }
            _ => {}
        }
        if self.roots.iter().any(|root| is_prefix(folder, root)) {
            return precious("a folder that holds the workspace", true);
        }
        None
    }
}

fn names(path: &Path) -> Names {
    let path = path.to_string_lossy();
    path.split('/')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_home(folder: &[String]) -> bool {
    match folder {
        [name] => name.chars().eq([HOME]),
        [above, name] => !name.contains(HOME) && HOMES.iter().any(|homes| matches(above, homes)),
        _ => false,
    }
}

/// A pattern that leaves next to nothing out, such as `*` and `.*`.
fn is_everything(name: &str) -> bool {
    name.contains('*')
        && name
            .chars()
            .all(|character| matches!(character, '*' | '?' | '.'))
}

fn is_prefix(folder: &[String], root: &[String]) -> bool {
    folder.len() <= root.len()
        && folder
            .iter()
            .zip(root)
            .all(|(one, other)| matches(one, other))
}

fn among(pattern: &str, names: &[&str]) -> bool {
    names.iter().any(|name| matches(pattern, name))
}

/// Whether a pattern of the shell may stand for a name. A bracket counts as any character: all that follows from a
/// mistake here is one word too much or too little of advice.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pattern = pattern.chars();
    let mut name_left = name.chars();
    // Where to go on after the last star, with one character more for it.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let before = pattern.clone();
        let fits = match pattern.next() {
            Some('*') => {
                retry = Some((pattern.clone(), name_left.clone()));
                continue;
            }
            Some('[') if before.as_str().contains(']') => {
                pattern.by_ref().find(|character| *character == ']');
                name_left.next().is_some()
            }
            Some('?') => name_left.next().is_some(),
            Some(character) => name_left.next() == Some(character),
            None if name_left.as_str().is_empty() => return true,
            None => false,
        };
        if fits {
            continue;
        }
        let Some((after, mut from)) = retry.take() else {
            return false;
        };
        if from.next().is_none() {
            return false;
        }
        pattern = after.clone();
        name_left = from.clone();
        retry = Some((after, from));
    }
}
