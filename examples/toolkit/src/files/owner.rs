//! Whose a file is, and who may do what with it.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, fchown};

use cap_std::fs::{Metadata, MetadataExt as _};
use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use rustix::io::Errno;

use crate::path::{Target, open_entry};

/// Where Linux keeps an access control list (acl(5)).
const ACCESS: &str = "system.posix_acl_access";

/// Longer lists than of 500 entries are not kept.
const LONGEST: usize = 4 + 500 * 8;

/// Gives a file the owner, the group, the mode and the access control list of the one that it replaces.
///
/// The bits that lend the owner's rights (set-user-ID and set-group-ID) are taken off, as the kernel does when somebody else
/// writes (write(2)): a model chooses what is in the file.
pub(super) fn keep(file: &File, target: &Target, standing: &Metadata) -> io::Result<()> {
    let own = rustix::fs::fstat(file)?;
    if (own.st_uid, own.st_gid) != (standing.uid(), standing.gid()) {
        // Only the superuser gives files away, and others may be allowed to keep the group.
        let _ = fchown(file, Some(standing.uid()), Some(standing.gid()))
            .or_else(|_| fchown(file, None, Some(standing.gid())));
    }
    let mode = standing.mode() & 0o1777;
    match access_list(target) {
        Ok(None) => file.set_permissions(Permissions::from_mode(mode)),
        // Beside a list, the bits of the group are the most that anybody in the list may do, and not what the group may.
        list => {
            file.set_permissions(Permissions::from_mode(mode & 0o1707))?;
            match list {
                Ok(Some(list)) => Ok(fsetxattr(file, ACCESS, &list, XattrFlags::empty())?),
                _ => Ok(()),
            }
        }
    }
}

/// Nothing where the file has only a mode.
fn access_list(target: &Target) -> io::Result<Option<Vec<u8>>> {
    let (file, _) = match open_entry(&target.folder, &target.name, false) {
        // Who may not read it may still replace it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        opened => opened?,
    };
    let mut list = vec![0; LONGEST];
    match fgetxattr(&file, ACCESS, &mut list) {
        Ok(length) => {
            list.truncate(length);
            Ok(Some(list))
        }
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives a new file the group of its folder, where the folder asks for that.
pub(super) fn inherit(file: &File, target: &Target) -> io::Result<()> {
    const SET_GROUP_ID: u32 = 0o2000;

    let folder = target.folder.dir_metadata()?;
    if folder.mode() & SET_GROUP_ID != 0 {
        let _ = fchown(file, None, Some(folder.gid()));
    }
    Ok(())
}
