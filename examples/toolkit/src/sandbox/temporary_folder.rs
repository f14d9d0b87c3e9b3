//! A folder for the temporary files of one command.

use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use cap_std::fs::Dir;
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::held::Held;

/// A folder for the temporary files of one command; it goes with this value, in a thread of its own: how much is in it is
/// for the command to say, and nobody waits for that.
#[derive(Debug)]
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    pub(super) fn new() -> io::Result<Self> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let name = format!("toolkit-command-{:016x}", u64::from_ne_bytes(name));
        // The sandbox knows no links.
        let path = std::env::temp_dir().canonicalize()?.join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes it, and waits for that no longer than this.
    pub(super) fn remove_within(mut self, patience: Duration) {
        let done = self.begin();
        let _ = done.recv_timeout(patience);
    }

    /// Begins to remove it; hangs up when that is done.
    fn begin(&mut self) -> mpsc::Receiver<()> {
        let (held, done) = mpsc::channel();
        let path = std::mem::take(&mut self.0);
        if !path.as_os_str().is_empty() {
            let removing = std::thread::Builder::new().name("toolkit-removal".to_owned());
            // It follows no links, and what cannot be removed harms nobody.
            let _ = removing.spawn(move || {
                let _ = remove(&path);
                drop::<mpsc::Sender<()>>(held);
            });
        }
        done
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        self.begin();
    }
}

/// Removes a folder with all that is in it, however deep it is and whatever its modes are.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    // A mount among those that are read-only can be emptied, and not removed.
    let emptied = empty(path);
    std::fs::remove_dir(path).or(emptied)
}

fn empty(path: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let folder = openat(CWD, path, flags | OFlags::PATH, Mode::empty())?;
    // Its owner may have closed it to himself.
    let itself = format!("/proc/self/fd/{}", folder.as_raw_fd());
    std::fs::set_permissions(itself, std::fs::Permissions::from_mode(0o700))?;
    let folder = openat(&folder, ".", flags, Mode::empty())?;
    let folder = Dir::from_std_file(folder.into());
    for entry in folder.entries()? {
        let name = entry?.file_name();
        if let Some(mut held) = Held::find(&folder, Path::new(&name))? {
            // What stays harms nobody, and the rest goes.
            let _ = held.remove();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::mkdirat;

    use super::*;

    #[test]
    fn a_folder_that_is_closed_to_its_owner_goes_and_what_links_lead_to_stays() {
        let base = tempfile::tempdir().unwrap();
        let (top, kept) = (base.path().join("top"), base.path().join("kept"));
        std::fs::create_dir_all(top.join("a/b/c")).unwrap();
        std::fs::create_dir(&kept).unwrap();
        for place in ["file", "a/file", "a/b/c/file"] {
            std::fs::write(top.join(place), "x").unwrap();
        }
        std::fs::write(kept.join("file"), "x").unwrap();
        for place in ["link", "a/b/link"] {
            symlink(&kept, top.join(place)).unwrap();
        }
        for place in ["a/b/c", "a/b", "a", ""] {
            let closed = std::fs::Permissions::from_mode(0o000);
            std::fs::set_permissions(top.join(place), closed).unwrap();
        }
        remove(&top).unwrap();
        assert!(!top.exists() && kept.join("file").exists());
        assert!(remove(&top).is_err());
    }

    #[test]
    fn depth_takes_neither_stack_nor_handles() {
        let base = tempfile::tempdir().unwrap();
        let top = base.path().join("top");
        std::fs::create_dir(&top).unwrap();
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut folder = openat(CWD, &top, flags, Mode::empty()).unwrap();
        // More than there may be handles, and than such a stack could hold frames of.
        for _ in 0..3_000 {
            mkdirat(&folder, "d", Mode::RWXU).unwrap();
            folder = openat(&folder, "d", flags, Mode::empty()).unwrap();
        }
        drop(folder);
        let small = std::thread::Builder::new().stack_size(128 << 10);
        let path = top.clone();
        let removing = small.spawn(move || remove(&path));
        removing.unwrap().join().unwrap().unwrap();
        assert!(!top.exists());
    }
}
