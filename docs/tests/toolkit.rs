//! The page on the toolkit names every threat, and tests that are there and say which threats they are for.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines that begin with the name of a threat.
fn threats(page: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for line in page.lines() {
        if let Some((name, rest)) = line
            .strip_prefix("- **")
            .and_then(|line| line.split_once("** "))
        {
            let before = found.insert(name, rest);
            assert!(before.is_none(), "{name} has two lines");
        }
    }
    found
}

/// What stands between backquotes and names a test: its file and its name, or a file that must not compile.
fn named(line: &str) -> Vec<(&str, Option<&str>)> {
    let code = line.split('`').skip(1).step_by(2);
    code.filter_map(|code| match code.split_once("::") {
        Some((file, test)) => Some((file, Some(test))),
        None if code.starts_with("ui-tests/")
            && Path::new(code).extension().is_some_and(|end| end == "rs") =>
        {
            Some((code, None))
        }
        None => None,
    })
    .collect()
}

/// The comment above a test, if there is a test of this name.
fn comment(source: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let opening = format!("fn {name}(");
    let at = lines.iter().position(|line| line.contains(&opening))?;
    let above: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("#[") || line.starts_with("///"))
        .copied()
        .collect();
    above
        .iter()
        .any(|line| line.starts_with("#[") && line.contains("test"))
        .then(|| above.join(" "))
}

/// Where a named file is: those of the toolkit are named without its folder.
fn file(name: &str) -> PathBuf {
    match name.strip_prefix("tests/") {
        Some(own) => root().join("examples/toolkit/tests").join(own),
        None => root().join(name),
    }
}

#[test]
fn every_threat_has_its_line() {
    let page = text(&root().join("docs/src/toolkit.md"));
    let lines = threats(&page);
    let all: Vec<String> = [('D', 16), ('P', 10), ('F', 12), ('S', 11)]
        .into_iter()
        .flat_map(|(letter, last)| (1..=last).map(move |number| format!("{letter}{number}")))
        .collect();
    for threat in &all {
        let line = lines.get(threat.as_str()).copied();
        let line = line.unwrap_or_else(|| panic!("{threat} has no line"));
        assert!(
            line.contains("not covered") || !named(line).is_empty(),
            "{threat} names no test, and does not say that it is not covered"
        );
    }
    assert_eq!(lines.len(), all.len(), "{:?}", lines.keys());
}

#[test]
fn every_test_that_is_named_is_there_and_says_what_it_is_for() {
    let page = text(&root().join("docs/src/toolkit.md"));
    let words = |comment: &str| -> Vec<String> {
        let words = comment.split(|c: char| !c.is_ascii_alphanumeric());
        words.map(str::to_owned).collect()
    };
    for (threat, line) in threats(&page) {
        for (name, test) in named(line) {
            let path = file(name);
            assert!(path.exists(), "{threat}: there is no {}", path.display());
            let Some(test) = test else { continue };
            let comment = comment(&text(&path), test);
            let comment =
                comment.unwrap_or_else(|| panic!("{threat}: {name} has no test `{test}`"));
            let own = name.starts_with("tests/");
            assert!(
                !own || words(&comment).iter().any(|word| word == threat),
                "{threat}: the comment above {name}::{test} does not name it"
            );
        }
    }
}

#[test]
fn every_other_test_on_the_page_is_there_too() {
    let page = text(&root().join("docs/src/toolkit.md"));
    let mut count = 0;
    for (name, test) in page.lines().flat_map(named) {
        let source = text(&file(name));
        if let Some(test) = test {
            assert!(
                comment(&source, test).is_some(),
                "{name} has no test `{test}`"
            );
            count += 1;
        }
    }
    assert!(count > 100, "only {count} tests are named");
}
