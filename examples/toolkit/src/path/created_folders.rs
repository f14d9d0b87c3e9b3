//! Folders that were made for a file which is not there yet.

use std::ffi::OsString;
use std::io;

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Folders that were made on the way to a file. They are taken away again when the write does not succeed; those that
/// hold something by then stay.
#[derive(Debug, Default)]
pub(crate) struct CreatedFolders(Vec<(Dir, OsString)>);

impl CreatedFolders {
    pub(super) fn push(&mut self, folder: Dir, name: OsString) {
        self.0.push((folder, name));
    }

    /// The file is there: the folders stay. Gives how many there are.
    ///
    /// A folder is on disk when the one that holds it has been synchronised.
    pub(crate) fn keep(mut self) -> io::Result<usize> {
        let made = std::mem::take(&mut self.0);
        for (folder, _) in &made {
            synchronise(folder)?;
        }
        Ok(made.len())
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        for (folder, name) in self.0.iter().rev() {
            let _ = folder.remove_dir(name);
        }
    }
}

/// Puts the names in a folder on disk, where a folder can be opened for that.
pub(crate) fn synchronise(folder: &Dir) -> io::Result<()> {
    // The handle itself only stands for a place (`O_PATH`).
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let done = rustix::fs::openat(folder, ".", flags, Mode::empty()).and_then(rustix::fs::fsync);
    match done {
        // One that may be entered and not listed, and a file system that cannot do it for folders.
        Err(Errno::ACCESS | Errno::INVAL) => Ok(()),
        other => Ok(other?),
    }
}
