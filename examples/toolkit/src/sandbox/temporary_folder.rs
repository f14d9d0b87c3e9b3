//! A folder for the temporary files of one command.

use std::fs::DirEntry;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Once, mpsc};
use std::time::Duration;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::unlink_tree::UnlinkTarget;
use crate::workspace::locks;

/// A folder for the temporary files of one command; it goes with this value, in a thread of its own: how much is in it is
/// for the command to say, and nobody waits for that. Where this program dies first, its helper removes it, or else the next
/// program that builds a workspace.
#[derive(Debug)]
pub(super) struct TemporaryFolder {
    path: PathBuf,
    /// Locked until it is gone, to tell it from those of the dead.
    lock: Option<OwnedFd>,
}

/// How the names of these folders begin.
const PREFIX: &str = "toolkit-command-";

/// How many digits follow.
const DIGITS: usize = 32;

/// Somebody who sweeps may take a new folder away before it is locked; not often.
const ATTEMPTS: usize = 16;

impl TemporaryFolder {
    pub(super) fn new() -> io::Result<Self> {
        // The sandbox knows no links.
        let base = std::env::temp_dir().canonicalize()?;
        for _ in 0..ATTEMPTS {
            let mut name = [0; DIGITS / 2];
            getrandom::fill(&mut name).map_err(io::Error::other)?;
            let path = base.join(format!("{PREFIX}{:032x}", u128::from_ne_bytes(name)));
            std::fs::DirBuilder::new().mode(0o700).create(&path)?;
            let lock = lock(&path)?;
            if lock.is_some() {
                return Ok(Self { path, lock });
            }
        }
        Err(io::Error::new(
            io::ErrorKind::WouldBlock,
            "another process locks or removes every new folder",
        ))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, and waits for that no longer than this.
    pub(super) fn remove_within(mut self, patience: Duration) {
        let done = self.begin();
        let _ = done.recv_timeout(patience);
    }

    /// Begins to remove it; hangs up when that is done.
    fn begin(&mut self) -> mpsc::Receiver<()> {
        let (held, done) = mpsc::channel();
        let path = std::mem::take(&mut self.path);
        let lock = self.lock.take();
        if !path.as_os_str().is_empty() {
            let removing = std::thread::Builder::new().name("toolkit-removal".to_owned());
            // It follows no links, and what cannot be removed harms nobody.
            let _ = removing.spawn(move || {
                let _ = remove(&path);
                drop(lock);
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

/// Locks a folder of this user, which is then nobody else's; `None` where somebody has it, or has removed it.
fn lock(path: &Path) -> io::Result<Option<OwnedFd>> {
    let folder = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    Ok(locks::lock(&folder)?.then_some(folder))
}

/// Begins to remove what programs left behind that were killed, or had no time to remove it; once in each program.
pub(crate) fn sweep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let found = leftovers();
        if !found.is_empty() {
            let sweeping = std::thread::Builder::new().name("toolkit-removal".to_owned());
            let _ = sweeping.spawn(move || {
                for path in found {
                    // Whoever still has one holds a lock on it, so that only those of the dead are removed.
                    if let Ok(Some(_lock)) = lock(&path) {
                        let _ = remove(&path);
                    }
                }
            });
        }
    });
}

/// The folders of this user that are commands' by their names, of the dead and of the living.
fn leftovers() -> Vec<PathBuf> {
    let Ok(entries) = std::env::temp_dir().read_dir() else {
        return Vec::new();
    };
    let is_one = |name: &str| {
        let digits = name.strip_prefix(PREFIX).unwrap_or_default();
        digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let is_own = |entry: &DirEntry| {
        let metadata = entry.metadata();
        metadata.is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw())
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_one))
        .filter(is_own)
        .map(|entry| entry.path())
        .collect()
}

/// Removes an empty folder by the handle of the one that holds it: by its path it can be among mounts that are read-only.
pub(super) fn remove_empty(holder: &OwnedFd, path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default();
    Ok(unlinkat(holder, name, AtFlags::REMOVEDIR)?)
}

/// A handle of the folder that holds another.
pub(super) fn holder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
    let holder = path.parent().unwrap_or(Path::new("/"));
    Ok(openat(CWD, holder, flags, Mode::empty())?)
}

/// Removes a folder with all that is in it, however deep it is and whatever its modes are.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    // A mount among those that are read-only can be emptied, and not removed.
    let emptied = empty(path);
    std::fs::remove_dir(path).or(emptied)
}

fn empty(path: &Path) -> io::Result<()> {
    let folder = Dir::from_std_file(open(path)?.into());
    for entry in folder.entries()? {
        let name = entry?.file_name();
        if let Some(mut target) = UnlinkTarget::find(&folder, Path::new(&name))? {
            // What stays harms nobody, and the rest goes.
            let _ = target.remove();
        }
    }
    Ok(())
}

/// Opens a folder of this user, whatever its mode is.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match openat(CWD, path, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {}
        other => return Ok(other?),
    }
    let folder = openat(CWD, path, flags | OFlags::PATH, Mode::empty())?;
    // Its owner may have closed it to himself.
    let itself = format!("/proc/self/fd/{}", folder.as_raw_fd());
    std::fs::set_permissions(itself, std::fs::Permissions::from_mode(0o700))?;
    Ok(openat(&folder, ".", flags, Mode::empty())?)
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
    fn a_new_folder_is_there_however_many_sweep() {
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    for path in leftovers() {
                        if let Ok(Some(_lock)) = lock(&path) {
                            let _ = remove(&path);
                        }
                    }
                }
            });
            let made: Vec<_> = (0..2_000).map(|_| TemporaryFolder::new()).collect();
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            for folder in made {
                assert!(folder.unwrap().path().is_dir());
            }
        });
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
