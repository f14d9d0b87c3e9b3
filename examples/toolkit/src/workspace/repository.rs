//! Where git finds the repository of a root, if that is not in its `.git`.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::Root;

/// Where git looks for a repository.
pub(crate) const REPOSITORY: &str = ".git";

/// The longest path there is, and what stands before it.
const LONGEST: u64 = 4_200;

impl Root {
    /// Real paths of the folders that the `.git` of this root names: by a link, by being a file (gitrepository-layout(5)),
    /// and those that these name in turn, because a worktree shares what git obeys with its repository.
    ///
    /// Paths only, to tell what git would obey; nothing is opened by way of them that is then written.
    pub(crate) fn repositories(&self) -> Vec<PathBuf> {
        let Ok(base) = std::fs::read_link(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
        else {
            return Vec::new();
        };
        let named = base.join(REPOSITORY);
        let Ok(metadata) = named.symlink_metadata() else {
            return Vec::new();
        };
        let Ok(real) = named.canonicalize() else {
            return Vec::new();
        };
        // A file's path begins beside the name `.git`, wherever a link of this name leads.
        let folder = line(&real, b"gitdir:").map(|path| base.join(path));
        let folder = folder.map_or(Some(real), |folder| folder.canonicalize().ok());
        let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
            return Vec::new();
        };
        let shared = line(&folder.join("commondir"), b"").map(|path| folder.join(path));
        let shared = shared.and_then(|shared| shared.canonicalize().ok());
        let mut found: Vec<PathBuf> = Vec::new();
        if !metadata.is_dir() {
            found.push(folder);
        }
        found.extend(shared.filter(|shared| !found.contains(shared) && *shared != named));
        found
    }
}

/// The path in a file of one line, after what it begins with.
fn line(file: &Path, begin: &[u8]) -> Option<PathBuf> {
    // A pipe in its place must not be waited for.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(file)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let path = text.strip_prefix(begin)?;
    let path = path.strip_prefix(b" ").unwrap_or(path);
    let end = path
        .iter()
        .rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    Some(PathBuf::from(OsString::from_vec(
        path.get(..=end)?.to_vec(),
    )))
}
