//! `search_in_files`: what is left out.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::Searched;
use contract_runtime::Status;
use serde_json::json;
use toolkit::{Hit, Workspace};

/// F11
#[test]
fn neither_ignored_nor_linked_files_are_searched() {
    let outside = Searched::new(&[("secret.txt", "canary\n")]);
    let tree = Searched::new(&[
        (".gitignore", "secrets/\n*.key\n"),
        ("secrets/one.txt", "canary\n"),
        ("sub/two.key", "canary\n"),
        ("sub/.ignore", "three.txt\n"),
        ("sub/three.txt", "canary\n"),
        (".env", "canary\n"),
        ("seen.txt", "plain\n"),
    ]);
    symlink(outside.folder(), tree.folder().join("out")).expect("a link");
    symlink(
        outside.folder().join("secret.txt"),
        tree.folder().join("out.txt"),
    )
    .expect("a link");
    symlink("secrets", tree.folder().join("in")).expect("a link");
    symlink("secrets/one.txt", tree.folder().join("in.txt")).expect("a link");
    symlink(".", tree.folder().join("loop")).expect("a link");
    for arguments in [
        json!({"pattern": "canary"}),
        json!({"pattern": "canary", "path": "sub"}),
        json!({"pattern": "canary", "glob": "*.key three.txt secrets/** out/** .env"}),
    ] {
        let found = tree.find(arguments.clone());
        assert!(found.hits.is_empty(), "{arguments}: {:?}", found.hits);
    }
    let found = tree.find(json!({"pattern": "plain"}));
    assert_eq!(
        (found.hits.len(), found.skipped.links, found.files_searched),
        (1, 5, 1)
    );
    let hidden = tree.lines(json!({"pattern": "canary", "hidden": true}));
    assert_eq!(hidden, [".env:1: canary"]);
}

#[test]
fn ignore_files_hold_without_a_repository_and_end_at_one() {
    let tree = Searched::new(&[
        (".gitignore", "*.log\n!kept.log\n"),
        (".ignore", "top.txt\n"),
        ("a/one.log", "needle\n"),
        ("a/kept.log", "needle\n"),
        ("a/.gitignore", "kept.log\n"),
        ("repo/.git/info/exclude", "excluded.txt\n"),
        ("repo/one.log", "needle\n"),
        ("repo/top.txt", "needle\n"),
        ("repo/excluded.txt", "needle\n"),
        ("repo/.rgignore", "!excluded2.txt\n"),
    ]);
    assert_eq!(
        tree.lines(json!({"pattern": "needle"})),
        ["repo/one.log:1: needle"]
    );
    assert_eq!(
        tree.lines(json!({"pattern": "needle", "path": "repo"})),
        ["repo/one.log:1: needle"]
    );
    assert!(
        tree.lines(json!({"pattern": "needle", "path": "a"}))
            .is_empty()
    );
}

#[test]
fn ignore_files_that_cannot_be_obeyed_are_counted() {
    let long = "x".repeat(70_000);
    let tree = Searched::new(&[
        ("rules", "a.txt\n"),
        ("a.txt", "needle\n"),
        ("sub/.ignore", &long),
    ]);
    symlink("rules", tree.folder().join(".gitignore")).expect("a link");
    fs::create_dir(tree.folder().join(".rgignore")).expect("a folder");
    let found = tree.find(json!({"pattern": "needle"}));
    assert_eq!(found.hits.len(), 1);
    assert_eq!(found.skipped.ignore_files, 3);
}

#[test]
fn hidden_means_hidden_from_the_searched_folder_on() {
    let tree = Searched::new(&[
        (".config/a.txt", "needle\n"),
        (".config/.b.txt", "needle\n"),
    ]);
    assert!(tree.lines(json!({"pattern": "needle"})).is_empty());
    assert_eq!(
        tree.lines(json!({"pattern": "needle", "path": ".config"})),
        [".config/a.txt:1: needle"]
    );
    assert_eq!(
        tree.lines(json!({"pattern": "needle", "hidden": true}))
            .len(),
        2
    );
}

#[test]
fn a_glob_narrows_from_the_searched_folder_on() {
    let tree = Searched::new(&[
        ("a/x.rs", "needle\n"),
        ("a/x.toml", "needle\n"),
        ("a/b/x.rs", "needle\n"),
        ("x.rs", "needle\n"),
    ]);
    let files = |path: &str, glob: &str| {
        let found = tree.find(json!({"pattern": "needle", "path": path, "glob": glob}));
        found
            .hits
            .iter()
            .map(|hit| hit.path.display().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(files(".", "*.toml"), "a/x.toml");
    assert_eq!(files(".", "*.rs !b/"), "a/x.rs x.rs");
    assert_eq!(files(".", "a/*.rs"), "a/x.rs");
    assert_eq!(files("a", "b/*"), "a/b/x.rs");
    assert_eq!(files("a", "./*.rs"), "a/x.rs");
    assert_eq!(files(".", "!*.rs"), "a/x.toml");
    assert_eq!(
        files(".", "a/**/*.{rs,toml} !./a/x.rs"),
        "a/b/x.rs a/x.toml"
    );
    assert_eq!(
        files("x.rs", "*.toml"),
        "x.rs",
        "a file that is named is searched"
    );
    let outcome = tree.call(json!({"pattern": "x", "glob": "*.rs src/[a"}));
    assert_eq!(
        outcome.error(),
        Some(
            "`src/[a` is not a glob: unclosed character class; missing ']'; write it as in `*.rs` or `!docs/**`"
        )
    );
}

/// F7
#[test]
fn texts_of_other_kinds_are_searched_or_counted() {
    let tree = Searched::new(&[
        ("crlf.txt", "one\r\nneedle\r\n"),
        ("bom.txt", "\u{feff}needle\n"),
        ("end.txt", "needle"),
    ]);
    let wide: Vec<u8> = "\u{feff}one\nneedle ä\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(tree.folder().join("wide.txt"), wide).expect("a file");
    fs::write(tree.folder().join("latin.txt"), b"\xe4 needle\n").expect("a file");
    fs::write(tree.folder().join("binary.bin"), b"needle\n\0\n").expect("a file");
    let found = tree.find(json!({"pattern": "^.*needle"}));
    let lines: Vec<String> = found.hits.iter().map(Hit::to_string).collect();
    assert_eq!(
        lines,
        [
            "bom.txt:1: needle",
            "crlf.txt:2: needle",
            "end.txt:1: needle",
            "wide.txt:2: needle ä"
        ]
    );
    assert_eq!((found.skipped.binary, found.files_searched), (1, 5));
    assert_eq!(
        tree.lines(json!({"pattern": "needle", "path": "latin.txt"})),
        ["latin.txt:1: \u{fffd} needle"]
    );
    assert_eq!(
        tree.find(json!({"pattern": "needle", "path": "binary.bin"}))
            .skipped
            .binary,
        1
    );
}

/// F6
#[test]
fn what_is_no_regular_file_is_left_out_without_waiting() {
    let tree = Searched::new(&[("a.txt", "needle\n")]);
    let pipe = tree.folder().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.as_ref().is_ok_and(std::process::ExitStatus::success) {
        crate::support::not_run(
            "F6",
            "what_is_no_regular_file_is_left_out_without_waiting",
            format_args!("mkfifo answers {made:?}"),
        );
        return;
    }
    let _socket =
        std::os::unix::net::UnixListener::bind(tree.folder().join("socket")).expect("a socket");
    let start = std::time::Instant::now();
    let found = tree.find(json!({"pattern": "needle"}));
    assert_eq!((found.hits.len(), found.skipped.special), (1, 2));
    assert_eq!(
        tree.call(json!({"pattern": "needle", "path": "pipe"}))
            .status(),
        Status::Failed
    );
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn what_the_system_does_not_give_is_counted() {
    use std::os::unix::fs::PermissionsExt as _;

    let tree = Searched::new(&[
        ("a.txt", "needle\n"),
        ("b.txt", "needle\n"),
        ("c/d.txt", "needle\n"),
    ]);
    let close = |name| {
        let mode = fs::Permissions::from_mode(0o0);
        fs::set_permissions(tree.folder().join(name), mode).expect("a mode");
    };
    close("b.txt");
    close("c");
    if fs::read(tree.folder().join("b.txt")).is_ok() {
        crate::support::not_run(
            "F11",
            "what_the_system_does_not_give_is_counted",
            format_args!("this user may read files of mode 0"),
        );
        return;
    }
    let found = tree.find(json!({"pattern": "needle"}));
    assert_eq!((found.hits.len(), found.skipped.unreadable), (1, 2));
}

#[test]
fn files_that_are_being_written_are_not_searched() {
    let tree = Searched::new(&[("a.txt", "needle\n"), (".toolkit-unfinished-1", "needle\n")]);
    let found = tree.find(json!({"pattern": "needle", "hidden": true}));
    assert_eq!(found.hits.len(), 1);
}

#[test]
fn a_link_to_a_folder_within_is_searched_when_it_is_named() {
    let tree = Searched::new(&[
        ("a/b/x.txt", "needle\n"),
        ("a/.gitignore", "y.txt\n"),
        ("a/b/y.txt", "needle\n"),
    ]);
    symlink("a/b", tree.folder().join("link")).expect("a link");
    assert_eq!(
        tree.lines(json!({"pattern": "needle", "path": "link"})),
        ["link/x.txt:1: needle"]
    );
    let strict = Workspace::builder()
        .root(tree.folder())
        .follow_links(false)
        .build()
        .expect("a workspace");
    let outcome = crate::support::call(strict, &json!({"pattern": "needle", "path": "link"}));
    assert!(
        outcome
            .error()
            .unwrap_or_default()
            .contains("symbolic link"),
        "{:?}",
        outcome.error()
    );
}
