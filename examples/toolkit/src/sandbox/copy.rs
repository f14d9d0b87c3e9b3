//! A copy of a small part of a folder, to be put back: for protected paths where the machine cannot seal them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _, PermissionsExt as _};
use rustix::fs::OFlags;

/// What is at a path, with all that is below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Copy {
    File {
        mode: u32,
        content: Vec<u8>,
    },
    Link(PathBuf),
    Folder(BTreeMap<OsString, Copy>),
    /// A pipe, socket or device, of which nothing is kept.
    Special,
}

/// So many names a path has at most that is copied.
const DEEPEST: usize = 64;

/// How much is copied: the hooks and settings of a repository are a hundredth of it.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    entries: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            entries: 2_000,
        }
    }
}

impl Copy {
    /// Copies what is there now; an error where it is too much.
    pub(super) fn take(root: &Dir, path: &Path, budget: &mut Budget) -> io::Result<Self> {
        let metadata = root.symlink_metadata(path)?;
        let kind = metadata.file_type();
        budget.entries = budget.entries.checked_sub(1).ok_or_else(too_much)?;
        // It calls itself for what lies below, and a command may have made that.
        if path.iter().count() > DEEPEST {
            return Err(too_much());
        }
        if kind.is_symlink() {
            return Ok(Self::Link(root.read_link_contents(path)?));
        }
        if kind.is_dir() {
            let mut entries = BTreeMap::new();
            for entry in root.read_dir(path)? {
                let name = entry?.file_name();
                let copy = Self::take(root, &path.join(&name), budget)?;
                entries.insert(name, copy);
            }
            return Ok(Self::Folder(entries));
        }
        if !kind.is_file() {
            return Ok(Self::Special);
        }
        budget.bytes = budget
            .bytes
            .checked_sub(metadata.len())
            .ok_or_else(too_much)?;
        Ok(Self::File {
            mode: metadata.permissions().mode(),
            content: root.read(path)?,
        })
    }

    /// Puts back what was there, at a path where nothing is.
    pub(super) fn put(&self, root: &Dir, path: &Path) -> io::Result<()> {
        match self {
            Self::File { mode, content } => {
                let mut options = OpenOptions::new();
                options
                    .write(true)
                    .create_new(true)
                    .custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
                let mut file = root.open_with(path, &options)?;
                io::Write::write_all(&mut file, content)?;
                file.set_permissions(cap_std::fs::Permissions::from_mode(*mode))
            }
            Self::Link(target) => root.symlink_contents(target, path),
            Self::Folder(entries) => {
                root.create_dir(path)?;
                for (name, copy) in entries {
                    copy.put(root, &path.join(name))?;
                }
                Ok(())
            }
            Self::Special => Ok(()),
        }
    }
}

fn too_much() -> io::Error {
    io::Error::other("too much to be copied")
}
