//! Going through a tree by handles, in the order of the names.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use ignore::overrides::Override;

use super::Stop;
use super::budget::Budget;
use super::findings::Reason;
use super::folder::{Entry, Folder, open, reason_of};
use super::rules::{RuleReader, Rules, Sources, Verdict};
use crate::files::replace;
use crate::problem::Kind;

/// How far down a walk goes; each level holds a handle.
const DEPTH: usize = 128;

/// The most names that are held at once; a folder with more is looked into partly.
const NAMES: usize = 250_000;

const NAME_BYTES: usize = 32 << 10;

/// What to look into.
#[derive(Debug)]
pub(super) struct Terms {
    /// Names that begin with a dot too.
    pub(super) hidden: bool,
    /// What else a path must be, given from the folder on that is searched.
    pub(super) globs: Override,
    /// Mounts may be entered.
    pub(super) cross: bool,
    /// The most files, and the most folders.
    pub(super) files: usize,
}

/// The files of a tree, in order.
pub(super) struct Walk {
    terms: Terms,
    stack: Vec<Cursor>,
    /// From the root to the folder on top of the stack, with a slash at the end.
    path: Vec<u8>,
    /// How much of it leads to the folder that is searched.
    base: usize,
    reader: RuleReader,
    /// Where the system puts names, some hundred at a time.
    buffer: Vec<MaybeUninit<u8>>,
    files: usize,
    folders: usize,
    stopped: Option<Stop>,
}

#[derive(Debug)]
struct Cursor {
    folder: Arc<Folder>,
    next: usize,
    rules: Rules,
    path: usize,
}

/// What a walk comes across.
#[derive(Debug)]
pub(super) enum Item {
    File(Arc<Folder>, Entry),
    Skipped(Reason),
}

impl Walk {
    /// Begins at a folder: its handle, its path from the root on (empty, or with a slash at the end), its path as hits
    /// show it, and the rules of the folders above it.
    pub(super) fn new(
        terms: Terms,
        (handle, path, shown): (OwnedFd, Vec<u8>, PathBuf),
        above: &Rules,
        items: &mut Vec<Item>,
        budget: &Budget<'_>,
    ) -> Self {
        let mut walk = Self {
            reader: RuleReader::new(terms.cross),
            stack: Vec::new(),
            base: path.len(),
            path,
            buffer: vec![MaybeUninit::uninit(); NAME_BYTES],
            files: 0,
            folders: 0,
            stopped: None,
            terms,
        };
        walk.enter(handle, shown, above, items, budget);
        walk
    }

    /// Why the walk ended early.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// Goes on until there are this many items, and says whether there may be more.
    pub(super) fn advance(
        &mut self,
        items: &mut Vec<Item>,
        count: usize,
        budget: &Budget<'_>,
    ) -> bool {
        while items.len() < count {
            let depth = self.stack.len();
            let Some(cursor) = self.stack.last_mut() else {
                return false;
            };
            self.path.truncate(cursor.path);
            let Some(entry) = cursor.folder.entries.get(cursor.next).copied() else {
                self.stack.pop();
                continue;
            };
            cursor.next += 1;
            match entry.kind {
                Kind::File if self.files >= self.terms.files => return self.stop(Stop::Files),
                Kind::File => {
                    self.files += 1;
                    items.push(Item::File(Arc::clone(&cursor.folder), entry));
                }
                Kind::Link => items.push(Item::Skipped(Reason::Link)),
                Kind::Special => items.push(Item::Skipped(Reason::Special)),
                Kind::Folder if depth >= DEPTH => {
                    items.push(Item::Skipped(Reason::TooDeep));
                }
                Kind::Folder if self.folders >= self.terms.files => return self.stop(Stop::Files),
                Kind::Folder => {
                    if budget.is_spent() {
                        return false;
                    }
                    let above = cursor.rules.clone();
                    let folder = Arc::clone(&cursor.folder);
                    let name = folder.name(entry);
                    self.path.extend_from_slice(name);
                    self.path.push(b'/');
                    match open(&folder.handle, name, Kind::Folder, self.terms.cross) {
                        Ok(handle) => {
                            self.enter(handle, folder.path_of(entry), &above, items, budget);
                        }
                        Err(error) => items.extend(reason_of(error).map(Item::Skipped)),
                    }
                }
            }
        }
        true
    }

    fn enter(
        &mut self,
        handle: OwnedFd,
        shown: PathBuf,
        above: &Rules,
        items: &mut Vec<Item>,
        budget: &Budget<'_>,
    ) {
        self.folders += 1;
        let held: usize = self
            .stack
            .iter()
            .map(|cursor| cursor.folder.entries.len())
            .sum();
        let mut folder = Folder::new(handle, shown);
        match folder.list(NAMES.saturating_sub(held), &mut self.buffer, budget) {
            Ok(true) => {}
            Ok(false) => {
                // What is not listed cannot be searched, so the search ends behind this folder.
                self.stopped = Some(Stop::Files);
                for cursor in &mut self.stack {
                    cursor.next = cursor.folder.entries.len();
                }
            }
            Err(error) => items.extend(reason_of(error).map(Item::Skipped)),
        }
        let mut sources = Sources::default();
        for entry in &folder.entries {
            sources.note(folder.name(*entry), entry.kind);
        }
        let path = self.path.len();
        let rules = self.reader.read(
            above,
            std::os::fd::AsFd::as_fd(&folder.handle),
            path,
            sources,
            |reason| items.push(Item::Skipped(reason)),
        );
        let Self {
            terms,
            path: whole,
            base,
            ..
        } = self;
        folder.keep(|name, kind| {
            whole.truncate(path);
            whole.extend_from_slice(name);
            is_wanted(terms, &rules, name, kind, whole, *base)
        });
        self.path.truncate(path);
        self.stack.push(Cursor {
            folder: Arc::new(folder),
            next: 0,
            rules,
            path,
        });
    }

    fn stop(&mut self, stop: Stop) -> bool {
        self.stopped = Some(stop);
        self.stack.clear();
        false
    }
}

fn is_wanted(
    terms: &Terms,
    rules: &Rules,
    name: &[u8],
    kind: Kind,
    path: &[u8],
    base: usize,
) -> bool {
    if name.starts_with(replace::PREFIX.as_bytes()) {
        return false;
    }
    let is_folder = kind == Kind::Folder;
    let is_kept = match rules.verdict(path, is_folder) {
        Verdict::Ignored => false,
        Verdict::Wanted => true,
        Verdict::Unsaid => terms.hidden || name.first() != Some(&b'.'),
    };
    // A glob only narrows: it brings back nothing that an ignore file excludes, unlike in ripgrep.
    let below = OsStr::from_bytes(path.get(base..).unwrap_or_default());
    is_kept && !terms.globs.matched(below, is_folder).is_ignore()
}
