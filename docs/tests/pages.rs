//! The pages hang together: links lead somewhere, snippets run, and the tests they name exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Its blocks are files and commands, and a script does what it says.
const FOLLOWED: &str = "publishing.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every page of the guide, the README and what stands beside it.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs/src"))
        .expect("the guide has pages")
        .map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    pages
}

/// What stands between two marks, line by line and outside of code blocks.
fn between(page: &str, open: &str, close: char) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside_code = !inside_code;
        }
        let mut rest = if inside_code { "" } else { line };
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inner, after)) = after.split_once(close) else {
                break;
            };
            found.push(inner.to_owned());
            rest = after;
        }
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        for link in between(&text(&page), "](", ')') {
            if link.contains("://") {
                continue;
            }
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match target {
                "" => page.clone(),
                target => page.with_file_name(target),
            };
            let place = page.display();
            assert!(
                target.exists(),
                "{place} links to {link}, which is not there"
            );
            if !anchor.is_empty() {
                let found = text(&target)
                    .lines()
                    .any(|line| anchor_of(line).as_deref() == Some(anchor));
                assert!(
                    found,
                    "{place} links to {link}, and there is no such heading"
                );
            }
        }
    }
}

/// The anchor of a heading, as mdBook and the forges make it.
fn anchor_of(line: &str) -> Option<String> {
    let heading = line
        .trim_start_matches('#')
        .strip_prefix(' ')
        .filter(|_| line.starts_with('#'))?;
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}

#[test]
fn every_page_is_in_the_summary_and_every_snippet_is_run() {
    let summary = text(&root().join("docs/src/SUMMARY.md"));
    let introduction = text(&root().join("docs/src/introduction.md"));
    let tested = text(&root().join("docs/lib.rs"));
    for page in pages() {
        let name = page
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        if page.starts_with(root().join("docs")) && name != "SUMMARY.md" {
            assert!(
                summary.contains(&format!("({name})"))
                    && (name == "introduction.md" || introduction.contains(&format!("({name})"))),
                "{name} is missing in SUMMARY.md or in the introduction"
            );
        }
        let page = text(&page);
        if page.contains("```rust") {
            assert!(
                tested.contains(&format!("{name}\")]")),
                "no snippet of {name} is run"
            );
        }
        for fence in page.lines().filter(|line| line.starts_with("```rust")) {
            assert!(!fence.contains("ignore"), "{name} leaves out a snippet");
            assert!(!fence.contains("no_run"), "{name} does not run a snippet");
        }
        // Whole files of crates, which `.ci/nightly.d/publish.sh` builds and runs.
        assert!(
            name == FOLLOWED || !page.contains("```rs\n"),
            "{name} has a snippet that nothing runs"
        );
    }
}

/// A block whose fence names a file is an excerpt of it: `rs,examples/bank/src/lib.rs`.
#[test]
fn every_excerpt_stands_in_its_file() {
    let mut found = 0;
    for page in pages() {
        for block in text(&page).split("\n```rs,").skip(1) {
            let (file, rest) = block.split_once('\n').unwrap_or((block, ""));
            let (excerpt, _) = rest.split_once("\n```").unwrap_or((rest, ""));
            let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
            let source = lines(&text(&root().join(file)));
            assert!(
                source.contains(&lines(excerpt)),
                "{} shows what does not stand in {file}:\n{excerpt}",
                page.display()
            );
            found += 1;
        }
    }
    assert!(found >= 2, "{found}");
}

/// Whether a function of this name stands below a `#[test]` of any sort, or a test without such a function has the name.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let (opening, trial) = (format!("fn {name}("), format!("\"{name}\","));
    lines.iter().enumerate().any(|(at, line)| {
        if *line == trial || line.contains(&format!("Trial::test({trial}")) {
            return true;
        }
        line.contains(&opening)
            && lines[..at]
                .iter()
                .rev()
                .take_while(|above| above.starts_with("#[") || above.starts_with("///"))
                .any(|above| above.starts_with("#[") && above.contains("test"))
    })
}

/// What these pages write for short.
const FOLDERS: [(&str, &str); 6] = [
    ("agent/", "companions/agent/tests/agent/"),
    ("faults/", "companions/remote/tests/faults/"),
    ("remote/", "companions/remote/tests/remote/"),
    ("shared/", "companions/remote/tests/shared/"),
    ("src/", "companions/remote/src/"),
    ("store/", "companions/remote/tests/store/"),
];

#[test]
fn every_test_that_a_page_of_promises_names_exists() {
    for name in [
        "semantics.md",
        "agent-promises.md",
        "remote-threats.md",
        "survives.md",
    ] {
        every_test_exists(name);
    }
}

#[test]
fn every_file_on_the_map_exists() {
    let page = text(&root().join("docs/src/map.md"));
    let mut folder = String::new();
    let mut named = 0;
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("All in `") {
            rest.trim_end_matches("`:").clone_into(&mut folder);
        }
        for word in between(line, "`", '`')
            .iter()
            .filter(|word| word.strip_suffix(".rs").is_some())
        {
            let found = [folder.as_str(), ""].map(|from| root().join(from).join(word));
            assert!(
                found.iter().any(|path| path.exists()),
                "there is no {word} in {folder}"
            );
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}

/// Of those that can meet a backend and its executors, and of what is kept for them.
#[test]
fn every_threat_from_afar_has_its_row() {
    let page = text(&root().join("docs/src/remote-threats.md"));
    for (letter, last) in [('W', 16), ('R', 6)] {
        for number in 1..=last {
            let row = format!("| {letter}{number} | ");
            assert!(page.contains(&row), "{letter}{number} has no row");
        }
    }
    for row in page
        .lines()
        .filter(|row| row.starts_with("| W") || row.starts_with("| R"))
    {
        assert!(row.contains(".rs::"), "this row names no test: {row}");
    }
}

/// Whether the suite that every store passes makes a test of a function in this file.
fn in_the_suite(file: &str, test: &str) -> bool {
    const STORES: &str = "companions/remote/tests/store/";
    let suite = text(&root().join(format!("{STORES}main.rs")));
    let of = file.strip_prefix(STORES);
    of.is_some_and(|module| suite.contains(&format!("{module}: {test},")))
}

fn every_test_exists(name: &str) {
    let page = text(&root().join("docs/src").join(name));
    let mut named = 0;
    for word in between(&page, "`", '`') {
        if let Some((file, test)) = word.split_once(".rs::") {
            let file = FOLDERS
                .iter()
                .find_map(|(short, long)| Some(format!("{long}{}", file.strip_prefix(short)?)))
                .unwrap_or_else(|| file.to_owned());
            let source = text(&root().join(format!("{file}.rs")));
            assert!(
                has_test(&source, test) || in_the_suite(&file, test),
                "{file}.rs has no test `{test}`, which {name} names"
            );
            named += 1;
        } else if word.starts_with("ui-tests/") || word.starts_with(".ci/") {
            assert!(root().join(&word).exists(), "there is no {word}");
            named += 1;
        }
    }
    assert!(named > 0, "{name} names no test");
}
