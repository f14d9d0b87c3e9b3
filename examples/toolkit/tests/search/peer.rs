//! `search_in_files` beside the real `rg`: the same files, and the same lines.
//!
//! What is different on purpose: links that are ignore files are not obeyed, `.gitignore` holds without a repository, a
//! glob brings back nothing that is ignored, and git's settings outside of the workspace are not read.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Searched;
use proptest::prelude::*;
use serde_json::{Value, json};

const NAMES: [&str; 7] = ["a", "b", "c.txt", "d.log", ".h", "e.rs", "ab"];
const RULES: [&str; 21] = [
    "a",
    "b",
    "*.txt",
    "*.log",
    ".h",
    "c.txt",
    "a/b",
    "**/b",
    "a/**",
    "b/*.log",
    "a/**/c.txt",
    "[ab]",
    "*",
    "?",
    "*.rs",
    ".*",
    "a/b/",
    "[!a]",
    "{a,b}",
    "\\a",
    "b/**/a",
];
const SOURCES: [&str; 4] = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];

/// The program, where there is an `rg` that obeys the ignore files above the folder it searches: 13 and 14 do not always.
fn peer(test: &str) -> Option<String> {
    let program = std::env::var("RG").unwrap_or_else(|_| "rg".to_owned());
    let output = Command::new(&program).arg("--version").output();
    let version = output.as_ref().map_or_else(ToString::to_string, |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    let major = version
        .strip_prefix("ripgrep ")
        .and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    if major.is_some_and(|major| major >= 15) {
        return Some(program);
    }
    crate::support::not_run(
        "F11",
        test,
        format_args!("`{program} --version` answers {version}"),
    );
    None
}

fn rg(program: &str, folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(program)
        .args([
            "--no-config",
            "--no-messages",
            "--no-ignore-global",
            "--color=never",
        ])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("an answer");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.strip_prefix("./").unwrap_or(line).to_owned())
        .collect();
    lines.sort_unstable();
    lines
}

fn files(tree: &Searched, arguments: &Value) -> Vec<String> {
    let found = tree.find(arguments);
    let mut files: Vec<String> = found
        .hits
        .iter()
        .map(|hit| hit.path.display().to_string())
        .collect();
    files.sort_unstable();
    files
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&NAMES[..]), 1..5)
        .prop_map(|names| names.join("/"))
}

fn rule() -> impl Strategy<Value = String> {
    let part = |text: &'static str| prop_oneof![3 => Just(""), 1 => Just(text)];
    (
        part("!"),
        part("/"),
        proptest::sample::select(&RULES[..]),
        part("/"),
        part(" "),
    )
        .prop_map(|(not, root, body, end, space)| format!("{not}{root}{body}{end}{space}"))
}

/// A path of a folder, a source, and its lines.
fn ignore_file() -> impl Strategy<Value = (String, &'static str, Vec<String>)> {
    let folder = prop_oneof![Just(String::new()), path().prop_map(|path| path + "/")];
    (
        folder,
        proptest::sample::select(&SOURCES[..]),
        proptest::collection::vec(rule(), 1..5),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// F11
    #[test]
    fn the_same_files_as_ripgrep(
        paths in proptest::collection::vec(path(), 5..40),
        rules in proptest::collection::vec(ignore_file(), 0..6),
        hidden: bool,
        inner in path(),
    ) {
        let Some(program) = peer("the_same_files_as_ripgrep") else { return Ok(()) };
        let tree = Searched::new(&[(".git/info/refs", "")]);
        for path in &paths {
            let file = tree.folder().join(path);
            // A name that is a folder in one path and a file in another stays what it was first.
            let made = file.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok());
            if made && !file.is_dir() {
                let _ = std::fs::write(file, "needle\n");
            }
        }
        for (folder, source, lines) in &rules {
            if folder.is_empty() || tree.folder().join(folder).is_dir() {
                tree.write(&format!("{folder}{source}"), lines.join("\n"));
            }
        }
        let mut searched = vec!["."];
        if tree.folder().join(&inner).is_dir() {
            searched.push(&inner);
        }
        for start in searched {
            let flags: &[&str] = if hidden { &["--hidden"] } else { &[] };
            let arguments = [&["--files-with-matches", "needle", start], flags].concat();
            let theirs = rg(&program, tree.folder(), &arguments);
            let ours = files(&tree, &json!({"pattern": "needle", "hidden": hidden, "path": start, "max_results": 1000}));
            prop_assert_eq!(ours, theirs, "{} {:?}", start, rules);
        }
    }
}

#[test]
fn the_same_lines_as_ripgrep() {
    let Some(program) = peer("the_same_lines_as_ripgrep") else {
        return;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let tree = Searched::new(&[]);
    for folder in ["path", "workspace", "search"] {
        for entry in std::fs::read_dir(source.join(folder))
            .expect("a folder")
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            tree.write(
                &format!("{folder}/{name}"),
                std::fs::read(entry.path()).expect("a file"),
            );
        }
    }
    for (pattern, arguments, flags) in [
        (r"^use ", json!({}), &[][..]),
        (r"\bself\.\w+\(", json!({}), &[]),
        ("SELF", json!({"case": "insensitive"}), &["--ignore-case"]),
        ("result", json!({"case": "smart"}), &["--smart-case"]),
        ("Result", json!({"case": "smart"}), &["--smart-case"]),
        (".map(", json!({"literal": true}), &["--fixed-strings"]),
        (r"[^[:ascii:]]", json!({}), &[]),
        (r"\{$|^\}$", json!({}), &[]),
        (r"(?i)PLACE|walk\b", json!({}), &[]),
        (
            r"fn",
            json!({"glob": "walk.rs place/*.rs"}),
            &["--glob=walk.rs", "--glob=place/*.rs"],
        ),
        (
            r"fn",
            json!({"glob": "*.rs !search/"}),
            &["--glob=*.rs", "--glob=!search/"],
        ),
    ] {
        let mut asked = json!({"pattern": pattern, "max_results": 1000});
        for (key, value) in arguments.as_object().into_iter().flatten() {
            asked[key] = value.clone();
        }
        let found = tree.find(&asked);
        assert_eq!(found.stopped, None, "{pattern}");
        let mut ours: Vec<String> = found
            .hits
            .iter()
            .map(|hit| format!("{}:{}:{}", hit.path.display(), hit.line, hit.text))
            .collect();
        ours.sort_unstable();
        let theirs = rg(
            &program,
            tree.folder(),
            &[
                &["--line-number", "--no-heading", "--regexp", pattern, "."],
                flags,
            ]
            .concat(),
        );
        assert!(!theirs.is_empty(), "{pattern} finds nothing");
        assert_eq!(ours, theirs, "{pattern} {asked}");
    }
}
