//! A file that nobody takes for the real one before it is whole.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::path::Target;
use crate::workspace::locks::lock;

/// How the names of files begin that are not finished; no tool shows or takes such a name.
pub(crate) const PREFIX: &str = ".toolkit-unfinished-";

/// Somebody who sweeps may take a new file away before it is locked; not often.
const ATTEMPTS: usize = 16;

/// A file under a name that nobody can guess, locked while it is written, and gone unless it is put in its place.
#[derive(Debug)]
pub(super) struct TemporaryFile<'f> {
    folder: &'f Dir,
    name: OsString,
    pub(super) file: File,
    placed: bool,
}

impl<'f> TemporaryFile<'f> {
    /// With `private`, nobody else may read it before it has the mode of the file that it replaces.
    pub(super) fn create(folder: &'f Dir, private: bool) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(if private { 0o600 } else { 0o666 });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let name = new_name()?;
            let file = File::from(rustix::fs::openat(folder, &name, flags, mode)?);
            let unfinished = Self {
                folder,
                name,
                file,
                placed: false,
            };
            if lock(&unfinished.file)? {
                return Ok(unfinished);
            }
        }
        Err(io::Error::new(
            io::ErrorKind::WouldBlock,
            "another process locks or removes every new file",
        ))
    }

    /// Puts the file in its place at once; with `fresh`, only if nothing is there.
    ///
    /// A rename replaces a link and never follows one, and both folders are handles, so it cannot lead elsewhere.
    pub(super) fn put(mut self, target: &Target, fresh: bool) -> rustix::io::Result<()> {
        let (to, name) = (&target.folder, &target.name);
        let plainly = || rustix::fs::renameat(self.folder, &self.name, to, name);
        if fresh {
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(self.folder, &self.name, to, name, flags) {
                // A file system that knows no flags.
                Err(Errno::INVAL) => plainly()?,
                other => other?,
            }
        } else {
            plainly()?;
        }
        self.placed = true;
        Ok(())
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

fn new_name() -> io::Result<OsString> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("{PREFIX}{:032x}", u128::from_ne_bytes(random)).into())
}

/// Removes what a process left behind that died while it wrote.
///
/// Whoever still writes holds a lock on the file, so that only the files of the dead are removed.
pub(crate) fn sweep(root: &Dir) {
    let Ok(entries) = root.entries() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            let _ = remove_if_abandoned(root, &name);
        }
    }
}

fn remove_if_abandoned(root: &Dir, name: &OsStr) -> io::Result<()> {
    let (file, metadata) = crate::path::open_entry(root, name, false)?;
    if metadata.is_file() && lock(&file)? {
        root.remove_file(name)?;
    }
    Ok(())
}
