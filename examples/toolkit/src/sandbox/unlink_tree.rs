//! Taking away what a command left at a protected path, however it left it.
//!
//! Everything goes through open folders, so no link leads elsewhere. Nothing here calls itself, and two folders are open at
//! once: the depth of what is taken away costs neither stack nor handles.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path};

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// So many names are held at once.
const BATCH: usize = 1_000;

/// A name in an open folder, both reached without following a link.
#[derive(Debug)]
pub(super) struct UnlinkTarget {
    folder: OwnedFd,
    name: OsString,
    kind: FileType,
    /// Folders whose modes were changed to get here, with the modes that they had.
    lent: Vec<(OwnedFd, Mode)>,
}

impl UnlinkTarget {
    /// What is at a path, if anything is; a link on the way there that leads to something stands for all behind it.
    pub(super) fn find(root: &Dir, path: &Path) -> io::Result<Option<Self>> {
        let mut folder = root.as_fd().try_clone_to_owned()?;
        let mut lent = Vec::new();
        let mut components = path.components().peekable();
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                return Err(io::Error::other("not a name"));
            };
            let kind = match kind_of(folder.as_fd(), name) {
                Err(Errno::ACCESS) => {
                    lent.extend(lend(folder.as_fd())?);
                    kind_of(folder.as_fd(), name)
                }
                other => other,
            };
            let kind = match kind {
                Ok(kind) => kind,
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let is_last = components.peek().is_none();
            if !is_last && kind == FileType::Directory {
                let (next, before) = open(folder.as_fd(), name)?;
                folder = next;
                lent.extend(before);
                continue;
            }
            let leads_nowhere = || {
                let there = root.symlink_metadata(path);
                there.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            };
            if !is_last && (kind != FileType::Symlink || leads_nowhere()) {
                return Ok(None);
            }
            return Ok(Some(Self {
                folder,
                name: name.to_owned(),
                kind,
                lent,
            }));
        }
        Ok(None)
    }

    pub(super) fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Gives it a name at which nobody looks; it is out of force from then on, however long it takes to remove.
    pub(super) fn rename_aside(&mut self) -> io::Result<()> {
        let name = aside()?;
        let rename =
            || rustix::fs::renameat(&self.folder, &self.name, &self.folder, name.as_os_str());
        match rename() {
            Err(Errno::ACCESS) => {
                self.lent.extend(lend(self.folder.as_fd())?);
                rename()?;
            }
            other => other?,
        }
        self.name = name;
        Ok(())
    }

    /// The name that it has now.
    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Removes it if it is an empty folder; says whether it is gone.
    pub(super) fn remove_empty(&mut self) -> io::Result<bool> {
        self.lent.extend(lend(self.folder.as_fd())?);
        match rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes it with all that is below it.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        self.lent.extend(lend(self.folder.as_fd())?);
        if unlink(self.folder.as_fd(), &self.name)? {
            return Ok(());
        }
        let (top, _) = open(self.folder.as_fd(), &self.name)?;
        lend(top.as_fd())?;
        // What lies in a folder in it is moved up into it, so that nothing is ever deep.
        let moved = aside()?;
        let mut count = 0_u64;
        each(top.as_fd(), |name| {
            if unlink(top.as_fd(), name)? {
                return Ok(());
            }
            let (folder, _) = open(top.as_fd(), name)?;
            lend(folder.as_fd())?;
            each(folder.as_fd(), |child| {
                if unlink(folder.as_fd(), child)? {
                    return Ok(());
                }
                count += 1;
                let mut to = moved.clone();
                to.push(format!("-{count}"));
                let rename = || rustix::fs::renameat(&folder, child, &top, to.as_os_str());
                // Its own mode counts too, for a folder that gets another one above it.
                match rename() {
                    Err(Errno::ACCESS) => {
                        lend(open_path(folder.as_fd(), child)?.as_fd())?;
                        Ok(rename()?)
                    }
                    other => Ok(other?),
                }
            })?;
            require_gone(unlink(top.as_fd(), name)?)
        })?;
        require_gone(unlink(self.folder.as_fd(), &self.name)?)
    }
}

impl Drop for UnlinkTarget {
    fn drop(&mut self) {
        for (folder, mode) in self.lent.drain(..).rev() {
            // They were changed only for the time of this.
            let _ = set_mode(folder.as_fd(), mode);
        }
    }
}

/// Does something with every entry of a folder that takes it out of there, until none is left.
fn each(folder: BorrowedFd<'_>, mut done: impl FnMut(&OsStr) -> io::Result<()>) -> io::Result<()> {
    loop {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(folder)? {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            if name != "." && name != ".." {
                names.push(name);
            }
            if names.len() == BATCH {
                break;
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let outcomes: Vec<io::Result<()>> = names.iter().map(|name| done(name)).collect();
        if !outcomes.iter().any(Result::is_ok) {
            return outcomes.into_iter().collect();
        }
    }
}

/// Whether a name is gone; it is not where it is a folder with something in it.
fn unlink(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<bool> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Somebody outside may put something there all the time.
fn require_gone(is_gone: bool) -> io::Result<()> {
    if is_gone {
        return Ok(());
    }
    Err(Errno::NOTEMPTY.into())
}

fn kind_of(folder: BorrowedFd<'_>, name: &OsStr) -> Result<FileType, Errno> {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(found.st_mode))
}

/// Opens a folder, with its mode changed if it must be; then with the mode that it had.
fn open(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<(OwnedFd, Option<(OwnedFd, Mode)>)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(folder, name, flags, Mode::empty());
    match open() {
        Ok(opened) => Ok((opened, None)),
        Err(Errno::ACCESS) => {
            let before = lend(open_path(folder, name)?.as_fd())?;
            Ok((open()?, before))
        }
        Err(error) => Err(error.into()),
    }
}

/// A handle of a folder that may be closed to its owner.
fn open_path(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

/// Lets the owner of a folder do everything in it; answers with the mode that it had, if it is another now.
fn lend(folder: BorrowedFd<'_>) -> io::Result<Option<(OwnedFd, Mode)>> {
    let before = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode);
    if before.contains(Mode::RWXU) {
        return Ok(None);
    }
    set_mode(folder, before | Mode::RWXU)?;
    Ok(Some((folder.try_clone_to_owned()?, before)))
}

/// By way of `/proc`, because a handle that was opened without reading knows no `fchmod`.
fn set_mode(folder: BorrowedFd<'_>, mode: Mode) -> io::Result<()> {
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    Ok(rustix::fs::chmod(path, mode)?)
}

/// A name that nobody can have taken.
fn aside() -> io::Result<OsString> {
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(io::Error::other)?;
    Ok(format!(".toolkit-removed-{:016x}", u64::from_ne_bytes(name)).into())
}
