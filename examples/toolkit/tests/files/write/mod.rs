//! `write_file`, as a model calls it.

mod at_once;
mod kept;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::writing::{call, done, everything, not_run, refused, registry, registry_of};
use contract_runtime::Status;
use rustix::fs::{CWD, FileType, Mode, mkfifoat, mknodat};
use serde_json::json;
use toolkit::{Limits, Workspace};

#[test]
fn a_new_file_is_made_with_the_folders_that_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let written = done(
        &registry,
        "write_file",
        &json!({"path": "a/b/c.txt", "text": "gr\u{fc}n\n"}),
    );
    assert_eq!(written["created"], true);
    assert_eq!(
        (&written["characters"], &written["bytes"]),
        (&json!(5), &json!(6))
    );
    assert_eq!(written["folders_made"], 2);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a/b/c.txt")).unwrap(),
        "gr\u{fc}n\n"
    );
    assert_eq!(everything(folder.path()).len(), 3);
}

#[test]
fn a_file_is_replaced_and_the_report_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    std::fs::write(&file, "the old text, which is longer").unwrap();
    let registry = registry(folder.path());
    let written = done(&registry, "write_file", &json!({"path": file, "text": ""}));
    assert_eq!(
        (&written["created"], &written["characters"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"");
}

#[test]
fn the_hash_that_a_read_reports_is_the_one_that_a_write_expects() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one").unwrap();
    let registry = registry(folder.path());
    let read = done(&registry, "read_file", &json!({"path": "a.txt"}));
    let write = |text: &str, hash: &serde_json::Value| json!({"path": "a.txt", "text": text, "expected_hash": hash});
    let written = done(&registry, "write_file", &write("two", &read["hash"]));
    let message = refused(&registry, "write_file", &write("three", &read["hash"]));
    assert_eq!(
        message,
        format!(
            "`a.txt` has changed: its hash is {}, and {} was expected; read it again",
            written["hash"].as_str().unwrap(),
            read["hash"].as_str().unwrap()
        )
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a.txt")).unwrap(),
        "two"
    );
    let again = done(&registry, "read_file", &json!({"path": "a.txt"}));
    assert_eq!(again["hash"], written["hash"]);
}

#[test]
fn a_file_that_should_be_absent_is_not_replaced_and_one_that_should_be_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let write = |path: &str, hash: &str| json!({"path": path, "text": "x", "expected_hash": hash});
    done(&registry, "write_file", &write("a.txt", "absent"));
    assert!(
        refused(&registry, "write_file", &write("a.txt", "absent"))
            .contains("and absent was expected")
    );
    let message = refused(&registry, "write_file", &write("b/c.txt", &"0".repeat(32)));
    assert!(message.contains("its hash is absent"), "{message}");
    assert_eq!(everything(folder.path()).len(), 1);
}

#[test]
fn what_cannot_be_right_is_refused_before_anything_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    for arguments in [
        json!({"path": "", "text": "x"}),
        json!({"path": "a\u{0}b", "text": "x"}),
        json!({"path": "a", "text": "x", "expected_hash": ""}),
        json!({"path": "a", "text": "x", "expected_hash": "0".repeat(31)}),
        json!({"path": "a", "text": "x", "expected_hash": "A".repeat(32)}),
    ] {
        let outcome = call(&registry, "write_file", &arguments);
        assert_eq!(outcome.status(), Status::Violation, "{arguments}");
    }
    assert!(everything(folder.path()).is_empty());
}

/// F5
#[test]
fn a_file_with_a_second_name_is_not_written() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let canary = outside.path().join("canary");
    std::fs::write(&canary, "canary").unwrap();
    std::fs::hard_link(&canary, folder.path().join("a")).unwrap();
    let registry = registry(folder.path());
    let expected = "`a` has 2 names (hard links), and writing would separate them; write to a new path instead";
    assert_eq!(
        refused(&registry, "write_file", &json!({"path": "a", "text": "x"})),
        expected
    );
    assert_eq!(
        refused(
            &registry,
            "edit_file",
            &json!({"path": "a", "old": "canary", "new": "x"})
        ),
        expected
    );
    assert_eq!(std::fs::read(&canary).unwrap(), b"canary");
    assert_eq!(everything(folder.path()).len(), 1);
}

/// F6
#[test]
fn whatever_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    mkfifoat(CWD, at("pipe"), Mode::from_raw_mode(0o666)).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let mut names = vec!["pipe", "folder", "socket"];
    if mknodat(
        CWD,
        at("device"),
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o666),
        rustix::fs::makedev(1, 7),
    )
    .is_ok()
    {
        names.push("device");
    } else {
        not_run(
            "F6",
            "whatever_is_no_file_is_refused_without_waiting (device)",
            "no device can be made",
        );
    }
    let before = everything(folder.path());
    let registry = registry(folder.path());
    for name in names {
        for (tool, arguments) in [
            ("write_file", json!({"path": name, "text": "x"})),
            (
                "write_file",
                json!({"path": name, "text": "x", "expected_hash": "0".repeat(32)}),
            ),
            ("edit_file", json!({"path": name, "old": "x", "new": "y"})),
        ] {
            let start = Instant::now();
            let message = refused(&registry, tool, &arguments);
            assert!(message.contains("not a file"), "{message}");
            assert!(start.elapsed() < Duration::from_secs(5), "{name}");
        }
    }
    assert_eq!(everything(folder.path()), before);
}

#[test]
fn a_slash_at_the_end_means_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "old").unwrap();
    let registry = registry(folder.path());
    let absolute = format!("{}/a/", folder.path().display());
    for path in [
        "a/",
        "a/.",
        "new/",
        "b/new/",
        ".",
        "..",
        "a/..",
        "",
        absolute.as_str(),
    ] {
        let outcome = call(&registry, "write_file", &json!({"path": path, "text": "x"}));
        assert!(!outcome.is_ok(), "{path}");
    }
    assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"old");
    assert_eq!(everything(folder.path()).len(), 1);
}

#[test]
fn a_text_above_the_limit_is_refused_and_one_at_the_limit_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        file_bytes: 10,
        ..Limits::default()
    };
    let registry = registry_of(Workspace::builder().root(folder.path()).limits(limits));
    done(
        &registry,
        "write_file",
        &json!({"path": "a", "text": "0123456789"}),
    );
    let message = refused(
        &registry,
        "write_file",
        &json!({"path": "b", "text": "01234567890"}),
    );
    assert_eq!(
        message,
        "`b` has 11 bytes, and at most 10 are allowed here; split it into several files"
    );
    refused(
        &registry,
        "edit_file",
        &json!({"path": "a", "old": "9", "new": "9a"}),
    );
    std::fs::write(folder.path().join("c"), "01234567890").unwrap();
    refused(
        &registry,
        "edit_file",
        &json!({"path": "c", "old": "01", "new": ""}),
    );
    assert_eq!(everything(folder.path()).len(), 2);
}

#[test]
fn a_link_stays_and_the_file_that_it_points_to_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("real")).unwrap();
    std::fs::write(folder.path().join("real/a"), "old").unwrap();
    symlink("real/a", folder.path().join("link")).unwrap();
    symlink("real", folder.path().join("folder")).unwrap();
    let followed = registry(folder.path());
    done(
        &followed,
        "write_file",
        &json!({"path": "link", "text": "new"}),
    );
    done(
        &followed,
        "write_file",
        &json!({"path": "folder/b", "text": "new"}),
    );
    let now = everything(folder.path());
    assert_eq!(now[Path::new("link").as_os_str()], "-> real/a");
    assert_eq!(now[Path::new("real/a").as_os_str()], "new");
    assert_eq!(now[Path::new("real/b").as_os_str()], "new");

    let refusing = registry_of(Workspace::builder().root(folder.path()).follow_links(false));
    for path in ["link", "folder/b", "folder/c", "folder/new/c"] {
        let message = refused(&refusing, "write_file", &json!({"path": path, "text": "x"}));
        assert!(message.contains("symbolic link"), "{message}");
    }
    assert_eq!(everything(folder.path()), now);
}

/// F2
#[test]
fn a_link_that_leads_out_or_nowhere_is_not_written_through() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("canary"), "canary").unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink(outside.path().join("canary"), at("out")).unwrap();
    symlink(outside.path(), at("outward")).unwrap();
    symlink(outside.path().join("new"), at("fresh")).unwrap();
    symlink("nothing", at("dangling")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("..", at("up")).unwrap();
    let (before, theirs) = (everything(folder.path()), everything(outside.path()));
    let registry = registry(folder.path());
    let up = format!(
        "up/{}/canary",
        outside.path().file_name().unwrap().display()
    );
    let paths = [
        "out",
        "outward/canary",
        "outward/new",
        "outward/a/new",
        "fresh",
        "dangling",
        "dangling/a",
        "loop",
        "loop/a",
        &up,
    ];
    for path in paths {
        refused(&registry, "write_file", &json!({"path": path, "text": "x"}));
        refused(
            &registry,
            "edit_file",
            &json!({"path": path, "old": "canary", "new": "x"}),
        );
    }
    assert_eq!(everything(folder.path()), before);
    assert_eq!(everything(outside.path()), theirs);
}

/// F9
#[test]
fn a_write_that_fails_leaves_neither_folders_nor_unfinished_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let registry = registry(folder.path());
    let before = everything(folder.path());
    for (path, hash) in [
        ("a/b/c/.git/hooks/x", None),
        ("a/b/.toolkit-unfinished-1", None),
        ("file/b/c", None),
        ("a/b/c", Some("0".repeat(32))),
        (&*format!("a/b/{}", "n".repeat(300)), None),
        (&*format!("a/{}/b", "n".repeat(300)), None),
    ] {
        refused(
            &registry,
            "write_file",
            &json!({"path": path, "text": "x", "expected_hash": hash}),
        );
        assert_eq!(everything(folder.path()), before, "{path}");
    }
}

#[test]
fn the_hints_say_that_writing_destroys_and_that_only_an_edit_adds_up() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let hints = |tool: &str| {
        let hints = registry.tool(tool).unwrap().hints();
        (
            hints.read_only.unwrap_or(false),
            hints.destructive,
            hints.idempotent.unwrap_or(false),
        )
    };
    assert_eq!(hints("write_file"), (false, Some(true), true));
    assert_eq!(hints("edit_file"), (false, Some(true), false));
}
