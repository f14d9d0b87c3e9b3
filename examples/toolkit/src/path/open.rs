//! Opening what is there: a regular file or a folder, and nothing that blocks or belongs to another mount.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{AtFlags, OFlags, StatxFlags};

use super::{RootedPath, means_folder};
use crate::files::replace;
use crate::problem::{Kind, Problem};

impl RootedPath<'_> {
    /// The regular file at this place, for reading.
    ///
    /// What it is gets asked twice: before, so that no device is ever opened, and on the handle, which cannot be swapped.
    pub(crate) fn open_file(&self) -> Result<(File, Metadata), Problem> {
        self.through_links(|rooted, _| rooted.open_file_beneath())
    }

    fn open_file_beneath(&self) -> Result<(File, Metadata), Problem> {
        self.must_be_finished()?;
        let (held, name) = self.holder()?;
        let folder = held.as_ref().unwrap_or(&self.root.handle);
        let metadata = if self.workspace.rules.follow_links {
            folder.metadata(name)
        } else {
            folder.symlink_metadata(name)
        };
        let metadata = metadata.map_err(|error| self.problem("open", error))?;
        self.must_be_file(&metadata)?;
        if means_folder(&self.path) {
            return Err(self.problem("open", io::ErrorKind::NotADirectory.into()));
        }
        let (file, metadata) = open_entry(folder, name, self.workspace.rules.follow_links)
            .map_err(|error| self.problem("open", error))?;
        self.must_be_file(&metadata)?;
        self.must_be_on_mount(&file)?;
        Ok((file, metadata))
    }

    /// The folder at this place.
    pub(crate) fn open_folder(&self) -> Result<Dir, Problem> {
        self.through_links(|rooted, _| rooted.open_folder_beneath())
    }

    pub(super) fn open_folder_beneath(&self) -> Result<Dir, Problem> {
        let (held, name) = self.holder()?;
        let folder = held.as_ref().unwrap_or(&self.root.handle);
        let opened = if self.workspace.rules.follow_links {
            folder.open_dir(name)
        } else {
            folder.open_dir_nofollow(name)
        };
        let opened = opened.map_err(|error| match folder.metadata(name) {
            Ok(metadata) if !metadata.is_dir() => Problem::NotAFolder {
                path: self.shown.clone(),
                kind: metadata.file_type().into(),
            },
            _ if !self.workspace.rules.follow_links && is_link(folder, name) => self.link(),
            _ => self.problem("open", error),
        })?;
        self.must_be_on_mount(&opened)?;
        Ok(opened)
    }

    /// The handle from which the rest of the path is opened; none stands for the root.
    ///
    /// Where links are followed that is the root and the whole path, judged by the system. Where they are not, it is the
    /// parent, reached one name at a time.
    fn holder(&self) -> Result<(Option<Dir>, &Path), Problem> {
        if self.workspace.rules.follow_links {
            return Ok((None, &self.path));
        }
        let mut held = None;
        let mut names: Vec<&OsStr> = self.path.iter().collect();
        let last = names.pop().unwrap_or(OsStr::new("."));
        for name in names {
            let folder = held.as_ref().unwrap_or(&self.root.handle);
            let next = folder.open_dir_nofollow(name).map_err(|error| {
                if is_link(folder, Path::new(name)) {
                    self.link()
                } else {
                    self.problem("open", error)
                }
            })?;
            held = Some(next);
        }
        Ok((held, Path::new(last)))
    }

    /// A file that is still being written is not there yet.
    fn must_be_finished(&self) -> Result<(), Problem> {
        let name = self.path.file_name().unwrap_or_default();
        if name
            .as_encoded_bytes()
            .starts_with(replace::PREFIX.as_bytes())
        {
            return Err(self.problem("open", io::ErrorKind::NotFound.into()));
        }
        Ok(())
    }

    pub(crate) fn must_be_file(&self, metadata: &Metadata) -> Result<(), Problem> {
        let kind = Kind::from(metadata.file_type());
        match kind {
            Kind::File => Ok(()),
            // Only where links are not followed.
            Kind::Link => Err(self.link()),
            Kind::Folder | Kind::Special => Err(Problem::NotAFile {
                path: self.shown.clone(),
                kind,
                hint: if kind == Kind::Folder {
                    "list it with read_folder".to_owned()
                } else {
                    "only files can be read and written".to_owned()
                },
            }),
        }
    }

    pub(crate) fn must_be_on_mount(&self, handle: impl std::os::fd::AsFd) -> Result<(), Problem> {
        if self.workspace.rules.cross_mounts || mount_of(handle) == self.root.mount {
            Ok(())
        } else {
            Err(Problem::OtherMount {
                path: self.shown.clone(),
            })
        }
    }

    pub(crate) fn link(&self) -> Problem {
        Problem::Link {
            path: self.shown.clone(),
        }
    }
}

pub(super) fn is_link(folder: &Dir, name: &Path) -> bool {
    folder
        .symlink_metadata(name)
        .is_ok_and(|metadata| metadata.is_symlink())
}

/// A file for reading, without waiting for the other end of a pipe; the caller looks at what it is.
pub(crate) fn open_entry(
    folder: &Dir,
    path: impl AsRef<Path>,
    follow: bool,
) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .follow(if follow {
            FollowSymlinks::Yes
        } else {
            FollowSymlinks::No
        })
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    let file = folder.open_with(path, &options)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// The mount that a handle lies on, or else its device (`STATX_MNT_ID`, Linux 5.8); absent where the system says neither.
pub(crate) fn mount_of(handle: impl std::os::fd::AsFd) -> Option<u64> {
    let told = rustix::fs::statx(&handle, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
    match told {
        Ok(told) if StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::MNT_ID) => {
            Some(told.stx_mnt_id)
        }
        _ => Some(rustix::fs::fstat(handle).ok()?.st_dev),
    }
}
