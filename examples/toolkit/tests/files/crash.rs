//! Writers that die, and disks that are full. The long run is `campaigns/crash.rs`.

#[path = "../../campaigns/killed.rs"]
mod killed;

use std::path::Path;
use std::process::Command;

use crate::reexec;
use crate::writing::{done, everything, not_run, record, refused, registry, registry_of};
use serde_json::json;
use toolkit::Workspace;

/// Where the test is to work that was started by another.
fn lent() -> std::path::PathBuf {
    std::env::var_os(killed::FOLDER)
        .expect("started by another test")
        .into()
}

#[test]
#[ignore = "started and killed by other tests"]
fn writer() {
    killed::write_on(&lent());
}

#[test]
#[ignore = "started and killed by other tests"]
fn writer_of_one_file() {
    killed::write_once(&lent());
}

/// F9
#[test]
fn a_writer_that_is_killed_leaves_whole_files_and_nothing_else_after_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut figures = killed::Figures::default();
    for _ in 0..50 {
        figures.run(
            folder.path(),
            reexec::command(writer, ""),
            killed::at_random(40_000),
        );
    }
    record(&format!("killed at random: {figures:?}"));
    assert_eq!((figures.left, figures.torn), (0, 0), "{figures:?}");
}

/// F9
#[test]
fn a_writer_that_is_killed_at_each_call_to_the_system_leaves_the_old_file_or_the_new_one() {
    let test =
        "a_writer_that_is_killed_at_each_call_to_the_system_leaves_the_old_file_or_the_new_one";
    let Some(figures) = killed::at_every_step(|| reexec::command(writer_of_one_file, "")) else {
        return not_run("F9", test, "`strace` is not there, or may not trace");
    };
    record(&format!("killed at every step: {figures:?}"));
    assert_eq!((figures.left, figures.torn), (0, 0), "{figures:?}");
    // Otherwise nothing was interrupted that matters.
    assert!(figures.found > 0, "{figures:?}");
}

/// F9
#[test]
fn a_new_workspace_leaves_the_unfinished_files_of_the_living_alone() {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: u8| folder.path().join(format!(".toolkit-unfinished-{number}"));
    std::fs::write(name(1), "of the dead").unwrap();
    let living = std::fs::File::create(name(2)).unwrap();
    rustix::fs::flock(&living, rustix::fs::FlockOperation::LockExclusive).unwrap();
    // What is none, whatever it is called, stays.
    std::fs::create_dir(name(3)).unwrap();
    std::os::unix::fs::symlink("/dev/null", name(4)).unwrap();
    Workspace::new(folder.path()).unwrap();
    assert_eq!(
        [1, 2, 3, 4].map(|number| name(number).symlink_metadata().is_ok()),
        [false, true, true, true]
    );
    // Closing it alone does not do: a process that another test starts at this moment holds it until it runs its program.
    rustix::fs::flock(&living, rustix::fs::FlockOperation::Unlock).unwrap();
    drop(living);
    Workspace::new(folder.path()).unwrap();
    assert!(!name(2).exists());
}

/// Runs another test of this program in a mount namespace of its own, after a script that has its folder as `$1`.
fn with_mounts<T: Fn() + Copy>(row: &str, test: &str, inner: T, script: &str) {
    let probe = Command::new("unshare")
        .args(["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    let answer = match probe {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(format!("`unshare`: {error}")),
    };
    if let Some(answer) = answer {
        return not_run(row, test, &answer);
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{script}; shift; exec \"$@\"");
    let path = folder.path().to_str().unwrap();
    let starter = ["unshare", "-Urm", "sh", "-ec", &script, "sh", path];
    let mut child = reexec::command_under(&starter, inner, "");
    reexec::run(child.env(killed::FOLDER, path));
}

/// F9
#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let test = "a_full_disk_leaves_the_old_file_and_nothing_else";
    with_mounts(
        "F9",
        test,
        on_a_small_disk,
        "mount -t tmpfs -o size=256k none \"$1\"",
    );
}

#[test]
#[ignore = "started by another test, where the disk is small"]
fn on_a_small_disk() {
    let folder = lent();
    let registry = registry(&folder);
    let old = "o".repeat(100_000);
    done(&registry, "write_file", &json!({"path": "a", "text": old}));
    let before = everything(&folder);
    for (tool, arguments) in [
        (
            "write_file",
            json!({"path": "a", "text": "n".repeat(200_000)}),
        ),
        (
            "write_file",
            json!({"path": "folder/b", "text": "n".repeat(200_000)}),
        ),
        (
            "edit_file",
            json!({"path": "a", "old": "o", "new": "nn", "count": 100_000}),
        ),
    ] {
        let message = refused(&registry, tool, &arguments);
        assert!(message.contains("No space left on device"), "{message}");
        assert_eq!(everything(&folder), before);
    }
    done(
        &registry,
        "write_file",
        &json!({"path": "a", "text": "short"}),
    );
    done(
        &registry,
        "write_file",
        &json!({"path": "a", "text": "n".repeat(200_000)}),
    );
}

/// F4
#[test]
fn a_mount_below_a_root_is_written_only_where_it_belongs_to_it() {
    let script = "mkdir \"$1/mount\"; mount -t tmpfs none \"$1/mount\"; mkdir \"$1/mount/folder\"";
    let test = "a_mount_below_a_root_is_written_only_where_it_belongs_to_it";
    with_mounts("F4", test, over_a_mount, script);
}

#[test]
#[ignore = "started by another test, where something is mounted"]
fn over_a_mount() {
    let folder = lent();
    let before = everything(&folder);
    let apart = registry(&folder);
    for path in [
        "mount/a",
        "mount/new/a",
        "mount/folder/a",
        "mount/folder/../a",
    ] {
        let message = refused(&apart, "write_file", &json!({"path": path, "text": "x"}));
        assert!(
            message.contains("is on another file system than the workspace"),
            "{message}"
        );
        assert_eq!(everything(&folder), before);
    }
    let together = registry_of(Workspace::builder().root(&folder).cross_mounts(true));
    for path in ["mount/a", "mount/new/a"] {
        done(
            &together,
            "write_file",
            &json!({"path": path, "text": "one"}),
        );
        done(
            &together,
            "edit_file",
            &json!({"path": path, "old": "one", "new": "two"}),
        );
        assert_eq!(std::fs::read_to_string(folder.join(path)).unwrap(), "two");
    }
    refused(
        &together,
        "write_file",
        &json!({"path": "mount/other/a", "text": "x", "expected_hash": "0".repeat(32)}),
    );
    let names: Vec<_> = everything(&folder).into_keys().collect();
    assert_eq!(
        names,
        [
            "mount",
            "mount/a",
            "mount/folder",
            "mount/new",
            "mount/new/a"
        ]
        .map(Path::new)
        .map(Path::as_os_str)
    );
}
