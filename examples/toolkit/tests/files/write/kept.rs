//! The owner, the mode and the access control list of a file that is written.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use serde_json::json;

use crate::writing::{done, everything, is_root, not_run, refused, registry};

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

/// F9
#[test]
fn the_mode_is_kept_but_for_the_bits_that_lend_the_rights_of_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let file = folder.path().join("a.sh");
    for (before, after) in [
        (0o755, 0o755),
        (0o600, 0o600),
        (0o666, 0o666),
        (0o6755, 0o755),
    ] {
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(before)).unwrap();
        done(
            &registry,
            "write_file",
            &json!({"path": "a.sh", "text": "new"}),
        );
        assert_eq!(mode(&file), after, "{before:o}");
        done(
            &registry,
            "edit_file",
            &json!({"path": "a.sh", "old": "n", "new": "N"}),
        );
        assert_eq!(mode(&file), after, "{before:o}");
    }
}

#[test]
fn a_new_file_has_the_mode_that_any_other_program_would_give_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("theirs"), "").unwrap();
    done(
        &registry(folder.path()),
        "write_file",
        &json!({"path": "ours", "text": ""}),
    );
    assert_eq!(
        mode(&folder.path().join("ours")),
        mode(&folder.path().join("theirs"))
    );
}

#[test]
fn the_owner_is_kept_and_a_new_file_has_the_group_that_its_folder_asks_for() {
    if !is_root() {
        return not_run(
            "F9",
            "the_owner_is_kept_..",
            "not the superuser, who alone gives files away",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, shared) = (folder.path().join("a"), folder.path().join("shared"));
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::chown(&file, Some(1234), Some(4321)).unwrap();
    std::fs::create_dir(&shared).unwrap();
    std::os::unix::fs::chown(&shared, None, Some(4321)).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o2775)).unwrap();
    let registry = registry(folder.path());
    done(
        &registry,
        "write_file",
        &json!({"path": "a", "text": "new"}),
    );
    done(
        &registry,
        "write_file",
        &json!({"path": "shared/b", "text": "new"}),
    );
    let owner = |path: &Path| {
        (
            path.metadata().unwrap().uid(),
            path.metadata().unwrap().gid(),
        )
    };
    assert_eq!(owner(&file), (1234, 4321));
    assert_eq!(owner(&shared.join("b")).1, 4321);
}

/// Without its list, the group would have the rights that were the most for anybody.
#[test]
fn the_access_control_list_is_kept() {
    const ACCESS: &str = "system.posix_acl_access";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    std::fs::write(&file, "old").unwrap();
    // acl(5): the owner and one user read and write, the group and others nothing; the mask is all that the user has.
    let nobody = u32::MAX;
    let entries = [
        (1_u16, 6_u16, nobody),
        (2, 6, 1234),
        (4, 0, nobody),
        (16, 6, nobody),
        (32, 0, nobody),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, whose) in entries {
        list.extend(
            tag.to_le_bytes()
                .into_iter()
                .chain(rights.to_le_bytes())
                .chain(whose.to_le_bytes()),
        );
    }
    if let Err(error) = rustix::fs::setxattr(&file, ACCESS, &list, rustix::fs::XattrFlags::empty())
    {
        return not_run("F9", "the_access_control_list_is_kept", &error.to_string());
    }
    done(
        &registry(folder.path()),
        "write_file",
        &json!({"path": "a", "text": "new"}),
    );
    let mut kept = vec![0; 1_000];
    let length = rustix::fs::getxattr(&file, ACCESS, &mut kept).unwrap();
    assert_eq!(kept[..length], list);
    assert_eq!(mode(&file), 0o660);
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced_either() {
    if is_root() {
        return not_run(
            "F9",
            "a_file_that_may_not_be_written_..",
            "the superuser may write everything",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    let message = refused(
        &registry(folder.path()),
        "write_file",
        &json!({"path": "a", "text": "new"}),
    );
    assert!(
        message.starts_with("cannot write `a`: Permission denied"),
        "{message}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"old");
}

#[test]
fn a_folder_below_a_root_that_cannot_be_written_can_be() {
    if is_root() {
        return not_run(
            "F9",
            "a_folder_below_a_root_..",
            "the superuser may write everything",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("open")).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let registry = registry(folder.path());
    done(
        &registry,
        "write_file",
        &json!({"path": "open/a", "text": "new"}),
    );
    refused(
        &registry,
        "write_file",
        &json!({"path": "a", "text": "new"}),
    );
    assert_eq!(everything(folder.path()).len(), 2);
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}
