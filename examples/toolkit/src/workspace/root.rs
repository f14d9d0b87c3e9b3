//! One folder that the tools may touch.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::path::mount_of;

/// One folder that the tools may touch: a handle, and the path by which people and models know it.
#[derive(Debug)]
pub(crate) struct Root {
    /// Canonical. Never opened again: it is for people, for models, and for the sandbox of commands.
    pub(crate) path: PathBuf,
    pub(crate) handle: Dir,
    /// Tells this mount from others below it; absent where the system cannot say.
    pub(crate) mount: Option<u64>,
}

impl Root {
    /// The only place where a path of the machine is opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let handle = Dir::open_ambient_dir(&path, ambient_authority())?;
        let mount = mount_of(&handle);
        Ok(Self {
            path,
            handle,
            mount,
        })
    }
}
