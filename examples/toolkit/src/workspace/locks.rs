//! One writer in a folder at a time, of this workspace and of every other program that has these tools.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, MetadataExt as _};
use parking_lot::{Mutex, MutexGuard};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

/// Two folders may share a lock, which costs time and nothing else.
const STRIPES: usize = 64;

/// A lock on a folder cannot be waited for with an end, so it is asked for again and again.
const PAUSE: Duration = Duration::from_millis(1);

/// Lets tools change what is in a folder one after the other, so that what one has read is still there when it writes.
///
/// The lock is on the folder itself, which keeps its inode when a file in it is replaced. It leaves nothing in the file
/// system, and the kernel takes it back from whoever dies. One thread of a workspace asks for it at a time, so that only
/// other programs are asked again and again.
#[derive(Debug)]
pub(crate) struct FolderLocks([Mutex<()>; STRIPES]);

/// As long as it lives, nobody else changes what is in the folder.
#[derive(Debug)]
pub(crate) struct FolderLock<'t> {
    /// Absent where the system locks no folders, or this one cannot be read.
    folder: Option<OwnedFd>,
    _here: MutexGuard<'t, ()>,
}

impl Default for FolderLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl FolderLocks {
    /// Waits until nobody else changes what is in a folder; `None` when that takes longer, or is given up.
    pub(crate) fn take(
        &self,
        folder: &Dir,
        patience: Duration,
        is_given_up: impl Fn() -> bool,
    ) -> io::Result<Option<FolderLock<'_>>> {
        let began = Instant::now();
        let metadata = folder.dir_metadata()?;
        let mut hasher = DefaultHasher::new();
        (metadata.dev(), metadata.ino()).hash(&mut hasher);
        let stripe = usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or(0);
        // What a writer leaves behind that panicked is one whole version, as always.
        let here = self.0[stripe].lock();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match rustix::fs::openat(folder, ".", flags, Mode::empty()) {
            Ok(folder) => Some(folder),
            Err(Errno::ACCESS) => None,
            Err(error) => return Err(error.into()),
        };
        let mut lock = FolderLock {
            folder,
            _here: here,
        };
        while let Some(folder) = &lock.folder {
            match flock(folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                // Of network file systems, some lock no folders.
                Err(
                    Errno::BADF | Errno::INVAL | Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP,
                ) => {
                    lock.folder = None;
                    break;
                }
                Err(error) => return Err(error.into()),
            }
            if is_given_up() || began.elapsed() >= patience {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(Some(lock))
    }
}

impl Drop for FolderLock<'_> {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // A child that is being made in this moment has the handle too, so closing it would not be enough.
            let _ = flock(folder, FlockOperation::Unlock);
        }
    }
}

/// Locks a file or folder; false where another process has locked or removed it.
pub(crate) fn lock(file: impl AsFd) -> io::Result<bool> {
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(rustix::fs::fstat(&file)?.st_nlink > 0),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
