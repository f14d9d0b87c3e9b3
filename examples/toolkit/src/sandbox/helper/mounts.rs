//! The file system as the command finds it: read-only but for what is lent.
//!
//! Landlock decides which files can be reached. Mounts add what it cannot: nothing else is there to be named, modes, owners,
//! times and attributes of what is there stay as they are, and paths within a root can be sealed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};

use super::root_filesystem;
use crate::sandbox::wire::Request;

/// Nothing of a call without a source, a type or data.
pub(super) const NONE: Option<&str> = None;

pub(super) fn arrange(request: &Request) -> io::Result<()> {
    // From here on, nothing shows outside.
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)?;
    root_filesystem::narrow(request)?;
    let lent = request.roots.iter().chain([&request.temporary]);
    for path in lent {
        bind(path)?;
    }
    // A folder that is a mount keeps its name, so nothing else can be put in the place of what lies sealed in it.
    for path in request.pinned.iter().chain(&request.sealed) {
        match bind(path) {
            // Taken away by someone else in this moment; the host sees to what the command puts there.
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mounts = std::fs::read("/proc/self/mountinfo")?;
    // Of several on one path, only the last can be reached.
    let last: BTreeMap<PathBuf, MsFlags> = mounts
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
        .collect();
    for (path, flags) in last {
        if !flags.contains(MsFlags::MS_RDONLY) && !is_lent(&path, request) {
            seal(&path, flags)?;
        }
    }
    Ok(())
}

/// A `/proc` of this process namespace; nothing of the machine's processes can be seen in it.
pub(super) fn processes(most: u32) -> io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, NONE)?;
    // The namespace's own since Linux 6.14; a limit that no burst outruns. Threads count, and 301 is the least.
    let most = most.saturating_mul(16).max(301);
    let _ = std::fs::write("/proc/sys/kernel/pid_max", most.to_string());
    Ok(())
}

fn bind(path: &Path) -> nix::Result<()> {
    // The machine's own root cannot be covered, and is writable as it is.
    if path == Path::new("/") {
        return Ok(());
    }
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(path), path, NONE, flags, NONE)
}

/// Whether what is mounted here may be written.
fn is_lent(path: &Path, request: &Request) -> bool {
    if request.sealed.iter().any(|sealed| path.starts_with(sealed)) {
        return false;
    }
    // The third stage writes there, before Landlock forbids it.
    if path == Path::new("/proc") {
        return true;
    }
    let lent = |folder: &PathBuf| path == folder;
    let below = |root: &PathBuf| request.cross_mounts && path.starts_with(root);
    request.roots.iter().any(|root| lent(root) || below(root))
        || request.pinned.iter().any(lent)
        || path == request.temporary
}

/// Makes a mount read-only. Flags that it has must be given again: they are locked in a user namespace
/// (`mount_namespaces`(7)).
fn seal(path: &Path, flags: MsFlags) -> nix::Result<()> {
    let flags = flags | MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    match mount(NONE, path, NONE, flags, NONE) {
        // Another mount hides it, or nobody may go there: it cannot be reached.
        Err(Errno::EINVAL | Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES) => Ok(()),
        other => other,
    }
}

/// Path and flags of one line of `/proc/self/mountinfo` (`proc_pid_mountinfo`(5)).
fn parse(line: &[u8]) -> Option<(PathBuf, MsFlags)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let path = unescape(fields.nth(4)?);
    let options = std::str::from_utf8(fields.next()?).ok()?;
    let mut flags = MsFlags::empty();
    for option in options.split(',') {
        match option {
            "ro" => flags |= MsFlags::MS_RDONLY,
            "nosuid" => flags |= MsFlags::MS_NOSUID,
            "nodev" => flags |= MsFlags::MS_NODEV,
            "noexec" => flags |= MsFlags::MS_NOEXEC,
            _ => {}
        }
    }
    Some((path, flags))
}

/// Blank, tab, line feed and backslash are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let code = digits.and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        path.push(code.unwrap_or(*first));
        rest = match code {
            Some(_) => after.get(3..).unwrap_or_default(),
            None => after,
        };
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_is_read_with_its_escapes() {
        let line =
            br"36 35 98:0 /mnt1 /a\040b\134c rw,nosuid,nodev,relatime master:1 - ext3 /dev/root rw";
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        assert_eq!(parse(line), Some((PathBuf::from(r"/a b\c"), flags)));
        let line = b"1 2 0:1 / / ro - tmpfs none rw";
        assert_eq!(parse(line), Some((PathBuf::from("/"), MsFlags::MS_RDONLY)));
        for broken in [&b""[..], b"1 2 3", b"1 2 3 4 /a", b"1 2 3 4 /a \xff"] {
            assert_eq!(parse(broken), None);
        }
    }

    #[test]
    fn a_backslash_without_digits_stays() {
        for (field, path) in [(r"/a\", r"/a\"), (r"/a\04", r"/a\04"), (r"/\999", r"/\999")] {
            assert_eq!(unescape(field.as_bytes()), PathBuf::from(path));
        }
    }
}
