//! Freezing, as a test of a package sees it. The command is an environment variable, so that each case is a process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

use contract_manifest::{Manifest, ToManifest as _, assert_frozen};
use contract_runtime::prelude::*;

/// Where the child process freezes to; without it, it does nothing.
const FILE: &str = "FREEZE_FILE";

struct Store;

/// Count what is stored.
#[tool(read_only)]
#[pre(at_most > 0)]
fn count_stored(#[context] store: &Store, at_most: u32) -> u32 {
    let Store = store;
    at_most
}

struct Menu(Vec<&'static str>);

#[tool]
impl Menu {
    /// Read a line of the menu.
    #[tool(read_only)]
    #[pre(line < self.0.len())]
    fn read(&self, line: usize) -> &str {
        self.0[line]
    }

    /// Order what is on a line of the menu.
    #[tool(name = "order_dish")]
    fn order(&self, line: usize) -> bool {
        line < self.0.len()
    }
}

#[test]
fn child_of_the_own_package() {
    if let Some(file) = env::var_os(FILE) {
        assert_frozen!(file.to_str().unwrap());
    }
}

#[test]
fn child_with_a_registry() -> Result<(), BuildError> {
    if let Some(file) = env::var_os(FILE) {
        let registry = Registry::builder()
            .tool(count_stored)
            .context(Store)
            .build()?;
        assert_frozen!(file.to_str().unwrap(), registry);
        // As a reference too.
        assert_frozen!(file.to_str().unwrap(), &registry,);
    }
    Ok(())
}

/// Whether the child passed, and what it printed.
fn run(child: &str, file: &Path, update: &str) -> (bool, String) {
    run_with(child, file, update, &["--nocapture"])
}

/// What a person sees of a child that passes: the harness keeps to itself what it prints.
fn seen(child: &str, file: &Path) -> String {
    let (passed, text) = run_with(child, file, "0", &[]);
    assert!(passed, "{text}");
    text
}

fn run_with(child: &str, file: &Path, update: &str, more: &[&str]) -> (bool, String) {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", child, "--test-threads=1"])
        .args(more)
        .env(FILE, file)
        .env("UPDATE_CONTRACTS", update)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("running 1 test"), "{text}");
    (output.status.success(), text.into_owned())
}

#[track_caller]
fn fails(child: &str, file: &Path, parts: &[&str]) {
    let (passed, text) = run(child, file, "0");
    assert!(!passed, "{text}");
    // The place of the test, not of the library.
    assert!(text.contains("freeze/main.rs"), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

/// A directory that is gone at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("contracts-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("contracts.json")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_package_is_frozen_and_then_held_to_it() {
    for child in ["child_of_the_own_package", "child_with_a_registry"] {
        let directory = Directory::new(child);
        let file = directory.file();
        fails(
            child,
            &file,
            &[
                "the contracts are not frozen yet: there is no `",
                "write it with `UPDATE_CONTRACTS=1 cargo test`, and commit it",
            ],
        );
        assert!(!file.exists());

        assert!(run(child, &file, "1").0);
        let frozen = fs::read_to_string(&file).unwrap();
        assert!(!frozen.contains("\"location\""));
        let manifest = Manifest::from_json(&frozen).unwrap();
        assert_eq!(manifest.to_json(), frozen);
        assert!(manifest.tool("count_stored").is_some());
        assert_eq!(
            fs::read_dir(&directory.0).unwrap().count(),
            1,
            "nothing is left beside it"
        );
        assert!(run(child, &file, "0").0);
    }
}

#[test]
fn a_change_is_reported_and_accepted() {
    let (child, directory) = ("child_with_a_registry", Directory::new("change"));
    let file = directory.file();
    assert!(run(child, &file, "1").0);
    let frozen = fs::read_to_string(&file).unwrap();
    let other = frozen
        .replace("Count what is stored.", "Count.")
        .replace("\"minimum\": 1", "\"minimum\": 0");
    assert_ne!(frozen, other);
    fs::write(&file, &other).unwrap();
    fails(
        child,
        &file,
        &[
            "the contracts have changed: 1 breaking, 1 compatible",
            "breaking\n  count_stored: input/at_most: before: at least 0; now: at least 1",
            "compatible\n  count_stored: description: the text has changed",
            "to accept the changes run `UPDATE_CONTRACTS=1 cargo test`, and commit the file",
        ],
    );
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        other,
        "only the command writes"
    );
    assert!(run(child, &file, "1").0);
    assert_eq!(fs::read_to_string(&file).unwrap(), frozen);
}

#[test]
fn another_form_of_the_same_file_is_no_change() {
    let (child, directory) = ("child_with_a_registry", Directory::new("form"));
    let file = directory.file();
    assert!(run(child, &file, "1").0);
    let frozen = fs::read_to_string(&file).unwrap();
    let value: serde_json::Value = serde_json::from_str(&frozen).unwrap();
    fs::write(&file, value.to_string()).unwrap();
    assert!(run(child, &file, "0").0);
    assert!(run(child, &file, "1").0);
    assert_eq!(fs::read_to_string(&file).unwrap(), frozen);
}

#[test]
fn a_file_that_is_no_manifest_is_named() {
    let (child, directory) = ("child_with_a_registry", Directory::new("garbled"));
    let file = directory.file();
    for (text, why) in [
        (
            "<<<<<<< ours",
            "contracts.json`: not a manifest: expected value at line 1 column 1; restore the file",
        ),
        (
            "{\"version\": \"9.0\"}",
            "version `9.0` of the manifest format is not supported",
        ),
        (
            "{\"version\": \"1.0\"}",
            "not a manifest: missing field `rules`",
        ),
    ] {
        fs::write(&file, text).unwrap();
        fails(
            child,
            &file,
            &[
                why,
                "or write it again with `UPDATE_CONTRACTS=1 cargo test`",
            ],
        );
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    fails(child, &file, &["contracts.json` cannot be read: "]);
    let (passed, text) = run(child, &file, "1");
    assert!(!passed && text.contains("cannot be written"), "{text}");
}

#[test]
fn tests_that_write_at_once_leave_one_whole_file() {
    let directory = Directory::new("at-once");
    let file = directory.0.join("below/contracts.json");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert!(run("child_with_a_registry", &file, "1").0));
        }
    });
    assert!(run("child_with_a_registry", &file, "0").0);
    assert_eq!(fs::read_dir(directory.0.join("below")).unwrap().count(), 1);
}

#[test]
fn a_test_that_passes_says_which_methods_it_does_not_freeze() {
    let directory = Directory::new("methods");
    let file = directory.file();
    assert!(run("child_of_the_own_package", &file, "1").0);
    let text = seen("child_of_the_own_package", &file);
    let line = text
        .lines()
        .find(|line| line.contains("assert_frozen!: "))
        .unwrap_or_else(|| panic!("nothing is said: {text}"));
    for part in [
        "contracts.json` leaves out `read` and `order_dish` of `Menu` (",
        "freeze/main.rs:",
        "because methods come with their state; write `assert_frozen!(",
        "registry!().with(state).build()?)`",
    ] {
        assert!(line.contains(part), "{part}\nis not in\n{line}");
    }
    let frozen = Manifest::from_json(&fs::read_to_string(&file).unwrap()).unwrap();
    assert!(frozen.tool("read").is_none());

    let whole = Registry::builder().with(Menu(vec!["soup"])).build();
    assert!(whole.is_ok_and(|registry| registry.manifest().tool("read").is_some()));
    assert!(run("child_with_a_registry", &file, "1").0);
    let text = seen("child_with_a_registry", &file);
    assert!(
        !text.contains("leaves out"),
        "a registry is a decision: {text}"
    );
}

contract_runtime::__private::inventory::submit! {
    contract_runtime::__private::RegisteredSet {
        package: "only-methods",
        state: "Menu",
        tools: &["read"],
        file: "src/menu.rs",
        position: (12, 6),
    }
}

#[test]
#[should_panic(
    expected = "all tools of package `only-methods` are methods, which come with their state: `read` of `Menu` (src/menu.rs:12:6); \
                give a registry: `assert_frozen!(\"..\", registry)`"
)]
fn a_package_of_methods_is_told_so() {
    contract_manifest::__private::assert_package_frozen("", "contracts.json", "only-methods");
}

#[test]
#[should_panic(expected = "write `use no_such_package as _;` in this program or test")]
fn a_package_without_tools_is_told_so() {
    contract_manifest::__private::assert_package_frozen("", "contracts.json", "no-such-package");
}
