//! Replacing a file at once: a reader sees the old text or the new one, whole.

use std::io::{self, Read as _, Write as _};

use cap_std::fs::{Metadata, MetadataExt as _};
use contract_runtime::CancellationToken;
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

use super::owner;
use super::temporary_file::TemporaryFile;
pub(crate) use super::temporary_file::{PREFIX, sweep};
use super::text::hash_of;
use crate::path::{RootedPath, Target, open_entry, synchronise};
use crate::problem::Problem;
use crate::workspace::FolderLock;

/// What stands for the hash of a file that is not there.
pub(crate) const ABSENT: &str = "absent";

/// Files that come and go under our hands are tried this often.
const ATTEMPTS: usize = 8;

/// In which state a file must be to be replaced.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected<'a> {
    Anything,
    Absent,
    Hash(&'a str),
}

impl<'a> From<Option<&'a str>> for Expected<'a> {
    fn from(hash: Option<&'a str>) -> Self {
        match hash {
            None => Self::Anything,
            Some(ABSENT) => Self::Absent,
            Some(hash) => Self::Hash(hash),
        }
    }
}

/// What became of it.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) created: bool,
    pub(super) folders_made: usize,
}

/// Why one attempt came to nothing.
enum Failed {
    /// The unfinished file cannot be moved from the root's folder, or not made there.
    Elsewhere(io::Error),
    /// A file came where none was.
    Appeared,
    Finally(Problem),
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self::Finally(problem)
    }
}

/// Waits until nobody else changes what is in the folder of the target.
pub(super) fn lock_folder<'w>(
    rooted: &RootedPath<'w>,
    target: &Target,
    cancelled: &CancellationToken,
) -> Result<FolderLock<'w>, Problem> {
    let patience = rooted.workspace.limits.write_wait;
    let locks = &rooted.workspace.locks;
    let lock = locks
        .take(&target.folder, patience, || cancelled.is_cancelled())
        .map_err(system(rooted, "lock the folder of"))?;
    lock.ok_or_else(|| {
        if cancelled.is_cancelled() {
            return given_up(rooted);
        }
        Problem::Busy {
            path: rooted.shown.clone(),
            milliseconds: patience.as_millis(),
        }
    })
}

fn given_up(rooted: &RootedPath<'_>) -> Problem {
    system(rooted, "write")(io::Error::other("the call was cancelled"))
}

/// Writes a file of these bytes and puts it in its place.
///
/// The unfinished file lies in the folder of the root, where the next workspace finds it if this process dies. Only where the
/// root cannot hold it, or it cannot be moved from there, it lies beside its target.
pub(super) fn replace(
    rooted: &RootedPath<'_>,
    target: Target,
    bytes: &[u8],
    expected: Expected<'_>,
    cancelled: &CancellationToken,
) -> Result<Replaced, Problem> {
    let mut beside = false;
    for _ in 0..ATTEMPTS {
        let standing = standing(rooted, &target)?;
        let unfinished = write_temporary(rooted, &target, standing.as_ref(), bytes, beside);
        let put = unfinished.and_then(|unfinished| {
            if cancelled.is_cancelled() {
                return Err(Failed::Finally(given_up(rooted)));
            }
            // Not everybody waits for a turn, so everything is asked again at the last moment.
            rooted.must_still_be_allowed(&target)?;
            must_be(rooted, &target, expected)?;
            unfinished
                .put(&target, standing.is_none())
                .map_err(|error| match error {
                    Errno::XDEV => Failed::Elsewhere(error.into()),
                    Errno::EXIST => Failed::Appeared,
                    _ => Failed::Finally(rooted.problem("replace", error.into())),
                })
        });
        match put {
            Ok(()) => {
                synchronise(&target.folder).map_err(system(rooted, "synchronise"))?;
                let folders_made = target.made.keep().map_err(system(rooted, "synchronise"))?;
                return Ok(Replaced {
                    created: standing.is_none(),
                    folders_made,
                });
            }
            Err(Failed::Elsewhere(_)) if !beside => beside = true,
            Err(Failed::Elsewhere(error)) => return Err(rooted.problem("write", error)),
            Err(Failed::Appeared) => {}
            Err(Failed::Finally(problem)) => return Err(problem),
        }
    }
    Err(system(rooted, "replace")(io::Error::new(
        io::ErrorKind::WouldBlock,
        "another program makes and removes it all the time",
    )))
}

fn write_temporary<'t>(
    rooted: &RootedPath<'t>,
    target: &'t Target,
    standing: Option<&Metadata>,
    bytes: &[u8],
    beside: bool,
) -> Result<TemporaryFile<'t>, Failed> {
    let folder = if beside {
        &target.folder
    } else {
        &rooted.root.handle
    };
    let mut unfinished =
        TemporaryFile::create(folder, standing.is_some()).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Failed::Elsewhere(error)
            }
            _ => Failed::Finally(rooted.problem("write", error)),
        })?;
    let mut write = || {
        unfinished.file.write_all(bytes)?;
        match standing {
            Some(standing) => owner::keep(&unfinished.file, target, standing)?,
            None => owner::inherit(&unfinished.file, target)?,
        }
        unfinished.file.sync_all()
    };
    write().map_err(system(rooted, "write"))?;
    Ok(unfinished)
}

/// What is at the target now, if it may be replaced.
pub(super) fn standing(
    rooted: &RootedPath<'_>,
    target: &Target,
) -> Result<Option<Metadata>, Problem> {
    let metadata = match target.folder.symlink_metadata(&target.name) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(rooted.problem("open", error)),
    };
    rooted.must_be_file(&metadata)?;
    if metadata.nlink() > 1 {
        return Err(Problem::HardLinked {
            path: rooted.shown.clone(),
            links: metadata.nlink(),
        });
    }
    // To replace a file, only its folder must be writable; whoever took the file's own permission away meant something.
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    match rustix::fs::accessat(&target.folder, &target.name, Access::WRITE_OK, flags) {
        // Before Linux 5.8 it cannot be asked in this way.
        Ok(()) | Err(Errno::NOSYS) => Ok(Some(metadata)),
        Err(error) => Err(rooted.problem("write", error.into())),
    }
}

/// Whether the file at the target may be replaced, and is in that state.
pub(super) fn must_be(
    rooted: &RootedPath<'_>,
    target: &Target,
    expected: Expected<'_>,
) -> Result<(), Problem> {
    let standing = standing(rooted, target)?;
    let found = || match standing {
        Some(_) => Ok(hash_of(&content(rooted, target)?)),
        None => Ok(ABSENT.to_owned()),
    };
    let (expected, found) = match (expected, &standing) {
        (Expected::Anything, _) | (Expected::Absent, None) => return Ok(()),
        (Expected::Absent, Some(_)) => (ABSENT, found()?),
        (Expected::Hash(expected), _) => (expected, found()?),
    };
    if found == expected {
        return Ok(());
    }
    Err(Problem::Changed {
        path: rooted.shown.clone(),
        expected: expected.to_owned(),
        found,
    })
}

/// The bytes of the file at the target, if they are not more than may be written.
pub(super) fn content(rooted: &RootedPath<'_>, target: &Target) -> Result<Vec<u8>, Problem> {
    let opened = open_entry(&target.folder, &target.name, false);
    let (file, metadata) = opened.map_err(|error| rooted.problem("open", error))?;
    rooted.must_be_file(&metadata)?;
    must_fit(rooted, metadata.len())?;
    let limit = rooted.workspace.limits.file_bytes;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(system(rooted, "read"))?;
    must_fit(rooted, bytes.len() as u64)?;
    Ok(bytes)
}

/// Whether a file of this many bytes may be written.
pub(super) fn must_fit(rooted: &RootedPath<'_>, bytes: u64) -> Result<(), Problem> {
    let limit = rooted.workspace.limits.file_bytes;
    if bytes <= limit {
        return Ok(());
    }
    Err(Problem::TooLarge {
        path: rooted.shown.clone(),
        bytes,
        limit,
        hint: "split it into several files".to_owned(),
    })
}

/// Whether a text can be the hash of a file, or says that there is none.
pub(super) fn is_hash(text: &str) -> bool {
    text == ABSENT
        || (text.len() == 32
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}

fn system<'p>(
    rooted: &'p RootedPath<'_>,
    operation: &'static str,
) -> impl FnOnce(io::Error) -> Problem + 'p {
    move |source| Problem::System {
        operation,
        path: rooted.shown.clone(),
        source,
    }
}
