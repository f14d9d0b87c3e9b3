//! `read_folder` and `get_working_directory`.

mod scale;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolkit::{Limits, Workspace};

/// What a registry passes on, unless told otherwise.
const PASSED_ON: usize = 100_000;

fn registry(workspace: Workspace) -> Registry {
    Registry::builder()
        .tool(toolkit::read_folder)
        .tool(toolkit::read_file)
        .tool(toolkit::get_working_directory)
        .context(workspace)
        .build()
        .unwrap()
}

fn over(folder: &TempDir) -> Registry {
    registry(Workspace::new(folder.path()).unwrap())
}

fn limited(folder: &TempDir, limits: Limits) -> Registry {
    registry(
        Workspace::builder()
            .root(folder.path())
            .limits(limits)
            .build()
            .unwrap(),
    )
}

fn call(registry: &Registry, tool: &str, arguments: &Value) -> Outcome {
    registry
        .call(ToolCall::new("1", tool, arguments.to_string()))
        .blocking()
}

#[track_caller]
fn list(registry: &Registry, arguments: &Value) -> Value {
    let outcome = call(registry, "read_folder", arguments);
    assert_eq!(
        outcome.status(),
        Status::Ok,
        "{arguments}: {:?}",
        outcome.error()
    );
    let output = outcome.output().unwrap();
    assert!(
        output.chars().count() <= PASSED_ON,
        "the registry would cut this"
    );
    serde_json::from_str(output).unwrap()
}

fn names(listing: &Value) -> Vec<&str> {
    listing["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_folder_is_listed_by_name_with_kinds_and_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("b.txt"), "12345").unwrap();
    fs::write(at("B.txt"), "").unwrap();
    fs::create_dir(at("a")).unwrap();
    fs::write(at("a/inner"), "1").unwrap();
    fs::write(at(".hidden"), "1").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    fs::write(at(".toolkit-unfinished-0123"), "half").unwrap();
    let entries = json!([
        {"name": ".hidden", "kind": "file", "size": 1},
        {"name": "B.txt", "kind": "file", "size": 0},
        {"name": "a", "kind": "folder"},
        {"name": "b.txt", "kind": "file", "size": 5},
        {"name": "link", "kind": "link"},
        {"name": "socket", "kind": "special"},
    ]);
    let registry = over(&folder);
    assert_eq!(list(&registry, &json!({})), json!({"entries": entries}));
    assert_eq!(
        list(&registry, &json!({"path": folder.path().to_str()})),
        json!({"entries": entries})
    );
    assert_eq!(
        list(&registry, &json!({"path": "a/../a/."})),
        json!({"entries": [{"name": "inner", "kind": "file", "size": 1}]})
    );
}

#[test]
fn with_depth_folders_are_followed_by_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for made in ["src/deep/deeper", ".git/objects", "src-gen"] {
        fs::create_dir_all(at(made)).unwrap();
    }
    for made in [
        "src/main.rs",
        "src/deep/one",
        "src/deep/deeper/two",
        ".git/config",
        "src.txt",
    ] {
        fs::write(at(made), "").unwrap();
    }
    std::os::unix::fs::symlink(".", at("src/again")).unwrap();
    let registry = over(&folder);
    let two = list(&registry, &json!({"depth": 2}));
    assert_eq!(
        names(&two),
        [
            ".git",
            "src",
            "src/again",
            "src/deep",
            "src/main.rs",
            "src-gen",
            "src.txt"
        ]
    );
    assert_eq!(
        two["entries"][2]["kind"], "link",
        "a link to a folder is a link"
    );
    assert_eq!(
        two.get("partial"),
        None,
        "what was not asked for is not missing"
    );
    let three = list(&registry, &json!({"path": "src", "depth": 3}));
    assert_eq!(
        names(&three),
        [
            "again",
            "deep",
            "deep/deeper",
            "deep/deeper/two",
            "deep/one",
            "main.rs"
        ]
    );
    assert_eq!(
        names(&list(&registry, &json!({"path": ".git"}))),
        ["config", "objects"]
    );
    for depth in [0, 9] {
        assert_eq!(
            call(&registry, "read_folder", &json!({"depth": depth})).status(),
            Status::Violation
        );
    }
}

/// F12: a listing that goes deep is not taken up by what a package manager or a compiler has put there.
#[test]
fn what_ignore_files_exclude_is_named_at_the_top_and_left_out_below() {
    let folder = tempfile::tempdir().unwrap();
    for file in [
        "node_modules/left/index.js",
        "web/node_modules/right/index.js",
        "web/debug.log",
        "web/main.js",
        "web/kept.log",
        "debug.log",
    ] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::write(folder.path().join(".gitignore"), "node_modules/\n*.log\n").unwrap();
    fs::write(folder.path().join("web/.gitignore"), "!kept.log\n").unwrap();
    let registry = over(&folder);
    let listing = list(&registry, &json!({"depth": 4}));
    assert_eq!(
        names(&listing),
        [
            ".gitignore",
            "debug.log",
            "node_modules",
            "web",
            "web/.gitignore",
            "web/kept.log",
            "web/main.js"
        ]
    );
    assert_eq!(listing["ignored"], 2);
    // What the folders above exclude holds in the folder that is asked for, and nothing in it is hidden from a caller who asks.
    let listing = list(&registry, &json!({"path": "web", "depth": 2}));
    assert_eq!(
        names(&listing),
        [
            ".gitignore",
            "debug.log",
            "kept.log",
            "main.js",
            "node_modules"
        ]
    );
    assert_eq!(listing.get("ignored"), None);
    let path = "web/node_modules";
    assert_eq!(
        names(&list(&registry, &json!({"path": path, "depth": 2}))),
        ["right", "right/index.js"]
    );
}

#[test]
fn what_lies_above_is_given_before_what_lies_below() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    for index in 0..10 {
        fs::write(folder.path().join(format!("a/{index}")), "").unwrap();
        fs::write(folder.path().join(format!("z{index}")), "").unwrap();
    }
    let registry = limited(
        &folder,
        Limits {
            folder_entries: 13,
            ..Limits::default()
        },
    );
    let listing = list(&registry, &json!({"depth": 2}));
    assert_eq!(names(&listing)[..4], ["a", "a/0", "a/1", "z0"]);
    assert_eq!(
        (names(&listing).len(), &listing["left_out"]),
        (13, &json!(8))
    );
    let registry = limited(
        &folder,
        Limits {
            folder_entries: 11,
            ..Limits::default()
        },
    );
    let listing = list(&registry, &json!({"depth": 2}));
    assert_eq!(
        (names(&listing).len(), listing["partial"].as_bool()),
        (11, Some(true)),
        "the folder was not looked into"
    );
}

#[test]
fn what_is_no_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
    let registry = over(&folder);
    let cases = [
        (
            "file",
            "`file` is a file, not a folder; give the path of a folder",
        ),
        (
            "link",
            "`link` is a file, not a folder; give the path of a folder",
        ),
        ("fiel", "`fiel` does not exist; did you mean `file`?"),
        (
            "file/x",
            "`file/x` does not exist; a part of it is a file, not a folder",
        ),
    ];
    for (path, message) in cases {
        let outcome = call(&registry, "read_folder", &json!({"path": path}));
        assert_eq!(
            (outcome.status(), outcome.error().unwrap()),
            (Status::Failed, message)
        );
    }
    for path in ["", "a\0b"] {
        assert_eq!(
            call(&registry, "read_folder", &json!({"path": path})).status(),
            Status::Violation
        );
    }
}

/// F12, D6: what a listing shows can be given back, and leads to the same file.
#[test]
fn every_name_that_is_shown_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let strange: [&[u8]; 14] = [
        b"plain",
        b" space ",
        b"caf\xe9",
        b"caf\xc3\xa9",
        br"caf\xe9",
        br"back\slash",
        br"back\\slash",
        b"new\nline",
        br"new\u{a}line",
        b"\x1b[31mred\x1b[0m",
        b"\x1b]8;;http:x\x07link",
        "right\u{202e}left".as_bytes(),
        b"\xff\xfe\x01",
        b"-rf",
    ];
    for name in strange {
        fs::write(folder.path().join(OsStr::from_bytes(name)), name).unwrap();
    }
    let registry = over(&folder);
    let listing = list(&registry, &json!({}));
    let shown = names(&listing);
    assert_eq!(shown.len(), strange.len());
    let mut read = BTreeSet::new();
    for name in shown {
        assert!(
            !name
                .chars()
                .any(|shown| shown.is_control() || shown == '\u{202e}'),
            "{name:?}"
        );
        let outcome = call(
            &registry,
            "read_file",
            &json!({"path": name, "escape": true}),
        );
        assert_eq!(
            outcome.status(),
            Status::Ok,
            "{name}: {:?}",
            outcome.error()
        );
        let file: Value = serde_json::from_str(outcome.output().unwrap()).unwrap();
        let content = strange
            .iter()
            .find(|one| file["hash"] == blake3::hash(one).to_hex()[..32]);
        read.insert(*content.unwrap());
    }
    assert_eq!(read.len(), strange.len(), "no file was taken for another");
}

#[test]
fn the_working_directory_says_what_holds_there() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workspace = Workspace::builder()
        .root(one.path())
        .root(other.path())
        .protect("deploy/keys")
        .follow_links(false)
        .limits(Limits {
            read_characters: 7,
            ..Limits::default()
        })
        .build()
        .unwrap();
    let registry = registry(workspace);
    let outcome = call(&registry, "get_working_directory", &json!({}));
    let here: Value = serde_json::from_str(outcome.output().unwrap()).unwrap();
    let [one, other] = [&one, &other].map(|folder| fs::canonicalize(folder.path()).unwrap());
    assert_eq!(here["path"], one.to_str().unwrap());
    assert_eq!(here["roots"], json!([one.to_str(), other.to_str()]));
    let protected = here["protected"].as_array().unwrap();
    assert!(protected.contains(&json!("deploy/keys")) && protected.contains(&json!(".git")));
    assert_eq!(
        (&here["follows_links"], &here["crosses_mounts"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(
        here["commands"],
        json!({"sandboxed": true, "network": false, "writable_repository": false})
    );
    assert_eq!(here["limits"]["read_characters"], 7);
    // A relative path starts there, and an absolute one may lie in any root.
    fs::write(one.join("file"), "").unwrap();
    assert_eq!(names(&list(&registry, &json!({}))), ["file"]);
    assert_eq!(
        names(&list(&registry, &json!({"path": other.to_str()}))).len(),
        0
    );
}

/// Paths that are made: a slash at the end makes a folder.
fn tree() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set("[ab.\\-](/[ab.\\-]){0,3}/?", 0..15)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_listing_is_what_a_walk_finds(tree in tree(), depth in 1_usize..5) {
        let folder = tempfile::tempdir().unwrap();
        for path in tree {
            let at = folder.path().join(&path);
            // What stands in the way of another stays.
            let _ = fs::create_dir_all(if path.ends_with('/') { &at } else { at.parent().unwrap() });
            let _ = fs::write(&at, "x");
        }
        let mut found = Vec::new();
        walk(folder.path(), Path::new(""), depth, &mut found);
        found.sort();
        let listing = list(&over(&folder), &json!({"depth": depth}));
        let found: Vec<&str> = found.iter().map(|path| path.to_str().unwrap()).collect();
        prop_assert_eq!(names(&listing), found);
        prop_assert_eq!((listing.get("left_out"), listing.get("partial")), (None, None));
    }
}

fn walk(root: &Path, path: &Path, depth: usize, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(root.join(path)).unwrap() {
        let entry = entry.unwrap();
        let path = path.join(entry.file_name());
        let is_hidden = entry.file_name().as_bytes().starts_with(b".");
        if depth > 1 && !is_hidden && entry.file_type().unwrap().is_dir() {
            walk(root, &path, depth - 1, found);
        }
        found.push(path);
    }
}
