//! `read_folder`

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::position::json_length;
use super::replace;
use super::text::room;
use crate::path::{RootedPath, escape_path};
use crate::problem::{Kind, Problem};
use crate::search::{RuleReader, Rules, Start, Verdict, is_zero};
use crate::workspace::Workspace;

/// What an entry takes in an answer beside its name, at most.
const ENTRY: usize = r#"{"name":"","kind":"special","size":18446744073709551615},"#.len();

/// How deep a listing goes.
const DEEPEST: u32 = 8;

/// Looked at between two questions whether to go on.
const STRIDE: usize = 512;

/// What is in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Folder {
    /// Sorted by name, bytewise; what is in a folder follows after it.
    pub entries: Vec<Entry>,
    /// So many further entries are there, and did not fit into the answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// So many entries below the folder are left out because ignore files exclude them; list their own folder to see them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// There may be more: not everything was looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Entry {
    /// Relative to the folder that was asked for. What is not UTF-8 or cannot be seen is escaped, as the paths of all tools
    /// take it.
    pub name: String,
    /// What it is; links are not followed.
    pub kind: Kind,
    /// The bytes in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// List a folder, and with `depth` the folders in it.
///
/// Links are named and not followed. Folders whose names begin with a dot, those on other mounts, and those that `.gitignore`,
/// `.ignore` or `.rgignore` exclude are named and not entered. What such a file excludes further down is left out and counted.
/// What is above is given before what is below, if not everything fits; of one folder, the first names are given.
/// A folder of any size takes no more memory than what is given, and no more time than
/// [`Limits::folder_scan`](crate::Limits::folder_scan) allows.
///
/// # Errors
///
/// [`Problem::NotAFolder`], [`Problem::NotFound`] with the name that was perhaps meant, [`Problem::Outside`] and whatever
/// else is wrong with the path.
///
/// ```
/// use contract_runtime::prelude::*;
/// use toolkit::{Kind, Workspace, read_folder};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::create_dir(folder.join("src"))?;
/// std::fs::write(folder.join("src/main.rs"), "fn main() {}")?;
/// let workspace = Workspace::new(folder)?;
///
/// let listing = read_folder(".", 2, &workspace, &CancellationToken::new())?;
/// assert_eq!(listing.entries[0].name, "src");
/// assert_eq!(listing.entries[1].name, "src/main.rs");
/// assert_eq!((listing.entries[1].kind, listing.entries[1].size), (Kind::File, Some(12)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[tool(
    read_only,
    open_world = false,
    blocking,
    timeout = "30s",
    description = "List a folder: names, kinds, and the sizes of files; with `depth`, also what is in its folders, except \
                   for hidden and ignored ones. Links are named, not followed."
)]
#[pre(!path.is_empty(), "give the path of a folder, such as `.`")]
#[pre(path.len() < 4_096, "a path has less than 4,096 bytes")]
#[pre(!path.contains('\0'), "a path has no zero bytes")]
#[pre((1..=DEEPEST).contains(&depth), "a listing goes 1 to 8 folders deep")]
#[post(|folder| folder.entries.len() <= workspace.limits().folder_entries, "at most as many as the workspace allows")]
#[post(|folder| folder.entries.is_sorted_by(|one, next| Path::new(&one.name) < Path::new(&next.name)), "sorted, and none twice")]
#[post(|folder| folder.entries.iter().all(|entry| Path::new(&entry.name).iter().count() <= depth as usize), "no deeper than asked")]
pub fn read_folder(
    /// Relative to the working directory, or absolute and below a root.
    #[arg(default = ".")]
    path: &str,
    /// How deep to look: 1 is the folder alone, 2 also what is in its folders.
    #[arg(default = 1)]
    depth: u32,
    #[context] workspace: &Workspace,
    #[context] cancelled: &CancellationToken,
) -> Result<Folder, Problem> {
    let rooted = workspace.resolve(path)?;
    let top = rooted.open_folder()?;
    // Where a folder on the way cannot be read, its ignore files cannot either.
    let (base, above) = Start::folder(&rooted)
        .map_or_else(|_| Default::default(), |start| (start.path, start.above));
    let mut listing = Listing::new(&rooted, base, cancelled);
    // Level by level, so that a large folder further down does not take the place of what lies above it.
    let mut level = vec![(PathBuf::new(), above)];
    // As the contract has it, also where it is switched off.
    for depth in (0..depth.clamp(1, DEEPEST)).rev() {
        let mut next = Vec::new();
        for (path, above) in level {
            match open(&rooted, &top, &path) {
                Ok(folder) => listing.look_into(&folder, &path, &above, &mut next),
                Err(error) if path.as_os_str().is_empty() => Err(error),
                // It was there a moment ago, or is not for us.
                Err(error) => {
                    listing.partial |= error.kind() != io::ErrorKind::NotFound;
                    Ok(())
                }
            }
            .map_err(|error| rooted.problem("list", error))?;
        }
        if depth > 0 && listing.is_full() {
            // Whatever is in them has no place.
            listing.partial |= !next.is_empty();
            break;
        }
        level = next;
    }
    Ok(listing.finish())
}

/// A folder below another, no link on the way, and on the same mount.
fn open(rooted: &RootedPath<'_>, top: &Dir, path: &Path) -> io::Result<Dir> {
    let mut folder = top.try_clone()?;
    for name in path {
        folder = folder.open_dir_nofollow(name)?;
    }
    rooted
        .must_be_on_mount(&folder)
        .map_err(|_| io::ErrorKind::CrossesDevices)?;
    Ok(folder)
}

#[derive(Debug)]
struct Listing<'c> {
    cancelled: &'c CancellationToken,
    reader: RuleReader,
    /// From the root to the folder that is listed, with a slash at the end.
    base: Vec<u8>,
    entries: Vec<Entry>,
    /// Entries that may still be given.
    left: usize,
    /// Characters that may still be given.
    room: usize,
    /// Entries that may still be looked at.
    scan: usize,
    left_out: u64,
    ignored: u64,
    partial: bool,
}

/// A name, in the order in which names are given.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    shown: String,
    name: OsString,
}

impl<'c> Listing<'c> {
    fn new(rooted: &RootedPath<'_>, base: Vec<u8>, cancelled: &'c CancellationToken) -> Self {
        let limits = &rooted.workspace.limits;
        Self {
            cancelled,
            reader: RuleReader::new(rooted.workspace.rules.cross_mounts),
            base,
            entries: Vec::new(),
            left: limits.folder_entries,
            room: room(limits),
            scan: limits.folder_scan,
            left_out: 0,
            ignored: 0,
            partial: false,
        }
    }

    fn is_full(&self) -> bool {
        self.left == 0 || self.left_out > 0
    }

    /// Adds what is in a folder, and tells which folders in it may be entered.
    fn look_into(
        &mut self,
        folder: &Dir,
        path: &Path,
        above: &Rules,
        next: &mut Vec<(PathBuf, Rules)>,
    ) -> io::Result<()> {
        let is_top = path.as_os_str().is_empty();
        let mut prefix = escape_path(path);
        let mut whole = [&self.base, path.as_os_str().as_encoded_bytes()].concat();
        if !is_top {
            prefix.push('/');
            whole.push(b'/');
        }
        let length = whole.len();
        let rules = self.reader.read_in(above, folder.as_fd(), length);
        let mut is_ignored = |name: &OsStr, is_folder| {
            whole.truncate(length);
            whole.extend_from_slice(name.as_encoded_bytes());
            rules.verdict(&whole, is_folder) == Verdict::Ignored
        };
        let (names, seen) = self.first_names(folder, |name, is_folder| {
            !is_top && is_ignored(name, is_folder)
        })?;
        self.left_out += seen - names.len() as u64;
        for Name { shown, name } in names {
            let shown = format!("{prefix}{shown}");
            let metadata = match folder.symlink_metadata(&name) {
                Ok(metadata) => metadata,
                // It was there a moment ago.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let cost = ENTRY + json_length(&shown);
            if cost > self.room {
                // Nothing after it is given either, so that what is given is in one piece.
                self.room = 0;
                self.left_out += 1;
                continue;
            }
            self.room -= cost;
            self.left -= 1;
            let kind = Kind::from(metadata.file_type());
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            if kind == Kind::Folder && !is_hidden && !is_ignored(&name, true) {
                next.push((path.join(&name), rules.clone()));
            }
            self.entries.push(Entry {
                name: shown,
                kind,
                size: (kind == Kind::File).then(|| metadata.len()),
            });
        }
        Ok(())
    }

    /// The names that come first, as many as there is place for, and how many were seen. The rest is not kept.
    fn first_names(
        &mut self,
        folder: &Dir,
        mut is_ignored: impl FnMut(&OsStr, bool) -> bool,
    ) -> io::Result<(Vec<Name>, u64)> {
        let mut names = BinaryHeap::new();
        let mut seen = 0;
        for (index, entry) in folder.entries()?.enumerate() {
            if index % STRIDE == 0 && self.cancelled.is_cancelled() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if self.scan == 0 {
                self.partial = true;
                break;
            }
            self.scan -= 1;
            let entry = entry?;
            let name = entry.file_name();
            if name
                .as_encoded_bytes()
                .starts_with(replace::PREFIX.as_bytes())
            {
                continue;
            }
            if is_ignored(&name, entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                self.ignored += 1;
                continue;
            }
            seen += 1;
            let shown = escape_path(Path::new(&name));
            if names.len() < self.left {
                names.push(Name { shown, name });
            } else if let Some(mut last) = names.peek_mut()
                && shown < last.shown
            {
                *last = Name { shown, name };
            }
        }
        Ok((names.into_sorted_vec(), seen))
    }

    fn finish(mut self) -> Folder {
        // Name by name, so that a folder is followed by what is in it.
        self.entries
            .sort_unstable_by(|one, other| Path::new(&one.name).cmp(Path::new(&other.name)));
        Folder {
            entries: self.entries,
            left_out: self.left_out,
            ignored: self.ignored,
            partial: self.partial,
        }
    }
}
