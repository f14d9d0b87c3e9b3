//! A folder that is open, and the names in it.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

use super::budget::Budget;
use super::findings::Reason;
use crate::path::mount_of;
use crate::problem::Kind;

/// A folder that is open, and the names in it.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) handle: OwnedFd,
    /// As hits show it.
    pub(super) path: PathBuf,
    pub(super) entries: Vec<Entry>,
    /// One name after the other: one allocation for all of them.
    names: Vec<u8>,
}

/// A name, and what it was when the folder was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    start: u32,
    end: u32,
    pub(super) kind: Kind,
}

impl Folder {
    pub(super) fn new(handle: OwnedFd, path: PathBuf) -> Self {
        Self {
            handle,
            path,
            entries: Vec::new(),
            names: Vec::new(),
        }
    }

    pub(super) fn name(&self, entry: Entry) -> &[u8] {
        self.names
            .get(entry.start as usize..entry.end as usize)
            .unwrap_or_default()
    }

    pub(super) fn path_of(&self, entry: Entry) -> PathBuf {
        self.path.join(OsStr::from_bytes(self.name(entry)))
    }

    /// Reads the names, at most this many of them; says whether these are all.
    pub(super) fn list(
        &mut self,
        room: usize,
        buffer: &mut [MaybeUninit<u8>],
        budget: &Budget<'_>,
    ) -> Result<bool, Errno> {
        let mut listing = RawDir::new(self.handle.as_fd(), buffer);
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if self.entries.len() >= room {
                return Ok(false);
            }
            if self.entries.len() % 1_024 == 1_023 && budget.is_spent() {
                return Ok(false);
            }
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => {
                    match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => kind_of(FileType::from_raw_mode(stat.st_mode)),
                        Err(_) => continue,
                    }
                }
                known => kind_of(known),
            };
            let start = self.names.len();
            self.names.extend_from_slice(name.to_bytes());
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.names.len()))
            else {
                return Ok(false);
            };
            self.entries.push(Entry { start, end, kind });
        }
        Ok(true)
    }

    /// Keeps what is wanted, in the order of the names.
    pub(super) fn keep(&mut self, mut wanted: impl FnMut(&[u8], Kind) -> bool) {
        let names = &self.names;
        let name = |entry: &Entry| names.get(entry.start as usize..entry.end as usize);
        self.entries
            .retain(|entry| wanted(name(entry).unwrap_or_default(), entry.kind));
        self.entries
            .sort_unstable_by(|one, other| name(one).cmp(&name(other)));
    }
}

pub(super) fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    }
}

/// Opens one name in a folder for reading, without following a link, leaving the folder or waiting for a pipe.
///
/// The system judges all of it, in the moment in which it opens (`openat2`); `cross` says whether mounts may be entered.
pub(super) fn open(
    folder: impl AsFd,
    name: &[u8],
    kind: Kind,
    cross: bool,
) -> Result<OwnedFd, Errno> {
    let folder = folder.as_fd();
    if name == b".." || name.contains(&b'/') {
        return Err(Errno::XDEV);
    }
    let name = OsStr::from_bytes(name);
    let mut flags =
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    if kind == Kind::Folder {
        flags |= OFlags::DIRECTORY;
    }
    let mut resolve =
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    if !cross {
        resolve |= ResolveFlags::NO_XDEV;
    }
    match rustix::fs::openat2(folder, name, flags, Mode::empty(), resolve) {
        // Before Linux 5.6, and where a filter forbids it. A single name that is not a link cannot lead out either.
        Err(Errno::NOSYS | Errno::PERM) => {
            let opened = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            if cross || mount_of(&opened) == mount_of(folder) {
                Ok(opened)
            } else {
                Err(Errno::XDEV)
            }
        }
        other => other,
    }
}

/// Why something that could not be opened is left out; nothing for what has vanished meanwhile.
pub(super) fn reason_of(error: Errno) -> Option<Reason> {
    match error {
        Errno::NOENT => None,
        Errno::LOOP => Some(Reason::Link),
        Errno::XDEV => Some(Reason::OtherMount),
        Errno::NXIO => Some(Reason::Special),
        _ => Some(Reason::Unreadable),
    }
}
